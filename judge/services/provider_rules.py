"""Rules of a provider's settings that hold wherever they are changed: pages, API, administration."""

from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from judge.llm.client import RESERVED_PARAMETERS
from judge.models import JudgeModel, LLMProvider
from judge.services.errors import Text
from pillars.readers.base import WHOLE_FILE, Problem, ProblemCode
from pillars.readers.schema import unstorable

NAME_TAKEN: Final = _("There is a provider of this name already.")
_NOT_A_KEY: Final = _("This is no key: it holds letters or signs that cannot be sent.")
_TYPE_KEY_AGAIN: Final = _("The address was changed. Please type the key again, or remove it.")


def key_problem(provider: LLMProvider, is_moved: bool, api_key: str | None) -> Text | None:
    """What is wrong with the key after a change; ``provider`` still holds the stored one, ``api_key`` None keeps it.

    A new address gets no old key: whoever changes where requests go must know what they carry.
    """
    if is_moved and provider.api_key_encrypted and api_key is None:
        return _TYPE_KEY_AGAIN
    if api_key and not (api_key.isascii() and api_key.isprintable()):  # it goes into a header
        return _NOT_A_KEY
    return None


def name_problem(provider: LLMProvider) -> Text | None:
    """Whether the same owner, or for a provider of the system everybody, has another provider of this name."""
    same = LLMProvider.objects.filter(name=provider.name, owner=provider.owner_id).exclude(pk=provider.pk)
    return NAME_TAKEN if same.exists() else None


def parameters_problem(parameters: Any) -> Text | None:
    """What is wrong with a model's parameters: no JSON object, not storable, or a field that is ours to set."""
    if not isinstance(parameters, dict):
        return Problem(WHOLE_FILE, "", ProblemCode.NOT_AN_OBJECT).message
    if parameters and (code := unstorable(parameters)):
        return Problem(WHOLE_FILE, "", code).message
    if reserved := RESERVED_PARAMETERS & parameters.keys():
        return _("“%(name)s” is set by LLARS Judge itself.") % {"name": min(reserved)}
    return None


def forget_findings(provider_id: int, model_id: int | None = None) -> None:
    """Forget what tests found out about a provider's models, or one of them: it was another server or another model."""
    models = JudgeModel.objects.filter(provider=provider_id)
    if model_id is not None:
        models = models.filter(pk=model_id)
    models.update(detected_output="", streams_reasoning=None, refused_parameters=[], checked_at=None)
