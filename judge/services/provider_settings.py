"""Providers and models as their owners set them up: every write of the pages and of the API.

Who may is the caller's question (judge.selectors.providers). What only staff decide is not written here: who owns a
provider, whether it may receive personal data, whether it is simulated.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judge.models import JudgeModel, LLMProvider
from judge.services.briefs import forget_briefs
from judge.services.errors import ActionRefused, ConfigRefused, Text
from judge.services.provider_rules import NAME_TAKEN, forget_findings, key_problem, name_problem, parameters_problem
from judge.services.provider_states import forget_pace

PROVIDER_FIELDS: Final = (
    "name",
    "base_url",
    "max_concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "may_omit_finish_reason",
)
MODEL_FIELDS: Final = (
    "model_name",
    "context_window",
    "input_price",
    "output_price",
    "structured_output",
    "parameters",
    "is_active",
)

_MODEL_TAKEN: Final = _("This provider has a model of this name already.")
_CHANGED: Final = _("Somebody else has just changed this. Please look at it again.")


def create_provider(owner: User, values: Mapping[str, Any], api_key: str = "") -> LLMProvider:
    """Set up a provider of a person's own. ``values``: of PROVIDER_FIELDS; what is left out has its default.

    It is not approved for personal data, whatever else it is. Raises ConfigRefused with messages by field.
    """
    provider = LLMProvider(owner=owner, **_only(values, PROVIDER_FIELDS))
    _tidy(provider)
    problem = key_problem(provider, is_moved=False, api_key=api_key)
    provider.api_key = api_key
    _check_provider(provider, {"api_key": [problem]} if problem else {})
    try:
        with transaction.atomic():
            provider.save(force_insert=True)
    except IntegrityError:  # a second click was faster
        raise ConfigRefused({"name": [NAME_TAKEN]}) from None
    return provider


def change_provider(provider_id: int, values: Mapping[str, Any], api_key: str | None = None) -> LLMProvider:
    """Change what ``values`` names. ``api_key``: None keeps the stored one, "" removes it.

    A new address gets no old key, loses the approval for personal data, which was given to another server, and what
    tests found out there. Raises ConfigRefused with messages by field, ActionRefused if somebody else changed address
    or key meanwhile, LLMProvider.DoesNotExist.
    """
    provider = LLMProvider.objects.get(pk=provider_id)
    before = {"base_url": provider.base_url, "api_key_encrypted": provider.api_key_encrypted}
    changed = _only(values, PROVIDER_FIELDS)
    for name, value in changed.items():
        setattr(provider, name, value)
    _tidy(provider)
    is_moved = provider.base_url != before["base_url"]
    problem = key_problem(provider, is_moved, api_key)
    if api_key is not None:
        provider.api_key = api_key
    provider.may_receive_personal_data &= not is_moved
    _check_provider(provider, {"api_key": [problem]} if problem else {})
    # Only what is changed: an approval that staff withdraw at this moment must not be written back.
    written = [*changed, *(["api_key_encrypted"] if api_key is not None else [])]
    written += ["may_receive_personal_data"] if is_moved else []
    fields = {name: getattr(provider, name) for name in written}
    try:
        with transaction.atomic():
            # No lock while a name is looked up: lanes that claim at this provider would wait for it. Instead nothing is
            # written if another request changed where requests go, or what they carry, in between.
            if not LLMProvider.objects.filter(pk=provider_id, **before).update(**fields, updated_at=Now()):
                raise ActionRefused("changed_meanwhile", _CHANGED)
            if is_moved:
                forget_findings(provider_id)
            forget_pace(provider_id, is_other=is_moved or api_key is not None)
    except IntegrityError:
        raise ConfigRefused({"name": [NAME_TAKEN]}) from None
    forget_briefs()
    provider.refresh_from_db()
    return provider


def delete_provider(provider_id: int) -> None:
    """Delete a provider with its models, its key and its tests.

    Raises ActionRefused while a session has one of its models as a judge: its verdicts must stay explained.
    """
    try:
        with transaction.atomic():
            JudgeModel.objects.filter(provider=provider_id).delete()
            LLMProvider.objects.filter(pk=provider_id).delete()
    except (ProtectedError, IntegrityError):
        message = _(
            "Sessions are judged by this provider's models, so it cannot be deleted. Its models can be withdrawn "
            "from new sessions, and its key can be removed."
        )
        raise ActionRefused("provider_in_use", message) from None


def add_model(provider_id: int, values: Mapping[str, Any]) -> JudgeModel:
    """Add a model to a provider. ``values``: of MODEL_FIELDS. Raises ConfigRefused with messages by field."""
    model = JudgeModel(provider_id=provider_id, **_only(values, MODEL_FIELDS))
    _check_model(model)
    try:
        with transaction.atomic():
            model.save(force_insert=True)
    except IntegrityError:
        raise ConfigRefused({"model_name": [_MODEL_TAKEN]}) from None
    return model


def change_model(model_id: int, values: Mapping[str, Any]) -> JudgeModel:
    """Change what ``values`` names of a model; a session's parameters were frozen when it was planned.

    A model under another name is another one: what a test found out is forgotten, and once it is a session's judge, the
    name stays. Raises ConfigRefused with messages by field, JudgeModel.DoesNotExist.
    """
    model = JudgeModel.objects.get(pk=model_id)
    name_before = model.model_name
    changed = _only(values, MODEL_FIELDS)
    for name, value in changed.items():
        setattr(model, name, value)
    is_renamed = model.model_name != name_before
    _check_model(model, is_renamed)
    try:
        with transaction.atomic():
            model.save(update_fields=list(changed))
            if is_renamed:
                forget_findings(model.provider_id, model.pk)
    except IntegrityError:
        raise ConfigRefused({"model_name": [_MODEL_TAKEN]}) from None
    forget_briefs()
    model.refresh_from_db()
    return model


def delete_model(model_id: int) -> None:
    """Delete a model that is no session's judge. Raises ActionRefused for one that is."""
    try:
        JudgeModel.objects.filter(pk=model_id).delete()
    except (ProtectedError, IntegrityError):
        message = _(
            "Sessions are judged by this model, so it cannot be deleted. It can be withdrawn from new sessions."
        )
        raise ActionRefused("model_in_use", message) from None


def _only(values: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _tidy(provider: LLMProvider) -> None:
    """As the client would do it: an address with and without its last slash is one address."""
    provider.name, provider.base_url = provider.name.strip(), provider.base_url.strip().rstrip("/")


def _check_provider(provider: LLMProvider, errors: dict[str, list[Text]]) -> None:
    try:
        provider.full_clean(exclude=("owner",), validate_unique=False, validate_constraints=False)
    except ValidationError as refused:
        errors = _by_field(refused) | errors
    if problem := name_problem(provider):
        errors.setdefault("name", []).append(problem)
    if errors:
        raise ConfigRefused(errors)


def _check_model(model: JudgeModel, is_renamed: bool = False) -> None:
    errors: dict[str, list[Text]] = {}
    try:
        model.full_clean(exclude=("provider", "parameters"), validate_unique=False, validate_constraints=False)
    except ValidationError as refused:
        errors = _by_field(refused)
    if problem := parameters_problem(model.parameters):
        errors["parameters"] = [problem]
    for name in ("input_price", "output_price"):
        if (price := getattr(model, name)) is not None and price < 0:
            errors.setdefault(name, []).append(_("A price is not negative."))
    if is_renamed and model.session_judges.exists():
        errors.setdefault("model_name", []).append(
            _("Sessions are judged by this model, so its name stays. Please add the other one as a new model.")
        )
    same = JudgeModel.objects.filter(provider_id=model.provider_id, model_name=model.model_name).exclude(pk=model.pk)
    if same.exists():
        errors.setdefault("model_name", []).append(_MODEL_TAKEN)
    if errors:
        raise ConfigRefused(errors)


def _by_field(refused: ValidationError) -> dict[str, list[Text]]:
    return {name: list(texts) for name, texts in refused.message_dict.items()}
