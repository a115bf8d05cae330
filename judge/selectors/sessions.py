"""Sessions as lists and single pages show them."""

from django.db.models import Q, QuerySet

from judge.domain.states import ACTION_SOURCES, SessionStatus
from judge.models import JudgeModel, JudgeSession
from judge.selectors.access import Person


def session_list(user: Person) -> QuerySet[JudgeSession]:
    """The sessions a person may read, newest first, with all that a list shows in a fixed number of queries."""
    return (
        JudgeSession.objects.visible_to(user)
        .select_related("owner", "rubric", "prompt_version")
        .prefetch_related("pillars", "session_judges__model__provider")
    )


def allowed_actions(session: JudgeSession) -> list[str]:
    """What the session's status allows, in the addresses' words; whether a person may is another question."""
    status = SessionStatus(session.status)
    return [action.replace("_", "-") for action, sources in ACTION_SOURCES.items() if status in sources]


def offered_models(user: Person) -> QuerySet[JudgeModel]:
    """The judge models a person can choose for a new session: active ones, everybody's and their own."""
    mine = Q(provider__owner__isnull=True) | Q(provider__owner=user.pk)
    return JudgeModel.objects.filter(mine, is_active=True).select_related("provider")
