"""Which providers a person sees, and which are theirs to change and to test. Pages, API and administration ask here."""

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.http import Http404

from judge.models import JudgeModel, LLMProvider, SessionJudge
from judge.selectors.access import ADD, Person, may, require

CHANGE_PROVIDER = "judge.change_llmprovider"


def may_keep_providers(user: Person) -> bool:
    """Whether a person may have providers of their own: whoever may plan sessions."""
    return may(user, ADD)


def may_manage_system(user: Person) -> bool:
    """Whether a person looks after the system's providers: staff with the permission to change them."""
    return user.is_staff and may(user, CHANGE_PROVIDER)


def provider_list(user: Person) -> QuerySet[LLMProvider]:
    """The providers a person may see, their own first, with the models they may see (two queries).

    Own ones, and of the system's those that are offered for new sessions; all of the system's for those who look after
    them. Nobody sees another person's.
    """
    require(user, ADD)
    shown = JudgeModel.objects.select_related("provider")
    rows = LLMProvider.objects.filter(Q(owner=user.pk) | Q(owner=None))
    if not may_manage_system(user):
        offered = JudgeModel.objects.filter(provider=OuterRef("pk"), is_active=True)
        rows = rows.filter(Q(owner=user.pk) | Exists(offered))
        shown = shown.filter(Q(provider__owner=user.pk) | Q(is_active=True))
    # Where a session's judge has it, a model's name stays and it cannot be deleted.
    used = SessionJudge.objects.filter(model=OuterRef("pk"))
    shown = shown.annotate(is_used=Exists(used)).order_by("model_name", "pk")
    rows = rows.select_related("owner").prefetch_related(Prefetch("models", shown))
    return rows.order_by(F("owner").asc(nulls_last=True), "name", "pk")


def visible_provider(user: Person, pk: int) -> LLMProvider:
    """A provider the person may see.

    Raises:
        PermissionDenied: they may plan no sessions, so providers are not for them, whichever exist.
        Http404: there is no such provider, or it is not shown to them; both look alike.
    """
    provider = provider_list(user).filter(pk=pk).first()
    if provider is None:
        raise Http404
    return provider


def own_provider(user: Person, pk: int) -> LLMProvider:
    """A provider of the person's own, to be changed.

    Raises:
        Http404: there is no such provider, or it is not shown to them.
        PermissionDenied: it is one of the system's, which are changed in the administration.
    """
    provider = visible_provider(user, pk)
    if provider.owner_id != user.pk:
        raise PermissionDenied
    return provider


def own_model(user: Person, provider_pk: int, pk: int) -> JudgeModel:
    """A model of a provider of the person's own; raises as own_provider does, Http404 also for another's model."""
    provider = own_provider(user, provider_pk)
    for model in provider.models.all():
        if model.pk == pk:
            return model
    raise Http404


def may_test(user: Person, provider: LLMProvider) -> bool:
    """Whether the person may test a provider that they see, and read its address and what a test found."""
    return provider.owner_id == user.pk if provider.owner_id else may_manage_system(user)


def testable_provider(user: Person, pk: int) -> LLMProvider:
    """A provider that the person may test.

    Raises:
        Http404: there is no such provider, or it is not shown to them.
        PermissionDenied: it is shown to them, but not theirs to test.
    """
    provider = visible_provider(user, pk)
    if not may_test(user, provider):
        raise PermissionDenied
    return provider
