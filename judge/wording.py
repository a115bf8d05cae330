"""Codes that the database stores, put into words for people: reasons, errors, flags, labels of the statistics."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from judge.domain.errors import ErrorCode
from judge.domain.verdict import STEPS

Text = str | Promise

_E = ErrorCode

ERROR_WORDS: dict[str, Text] = {
    _E.CONNECTION_FAILED: _("The model's server could not be reached."),
    _E.ADDRESS_REFUSED: _("The provider's address must not be called. The operator can allow local model servers."),
    _E.TIMEOUT_FIRST_TOKEN: _("The model did not begin to answer in time."),
    _E.TIMEOUT_SILENCE: _("The model stopped answering in the middle."),
    _E.TIMEOUT_TOTAL: _("The answer took too long."),
    _E.RATE_LIMITED: _("The provider asked to slow down."),
    _E.INSUFFICIENT_QUOTA: _("The provider's quota is used up."),
    _E.UNAUTHORIZED: _("The provider refused the key."),
    _E.SERVER_ERROR: _("The model's server reported an error of its own."),
    _E.MODEL_NOT_FOUND: _("The provider does not know this model."),
    _E.BAD_REQUEST: _("The provider did not accept the request."),
    _E.TOO_LONG: _("The two threads are longer than the model can read."),
    _E.PROTOCOL_ERROR: _("The server's answer does not follow the protocol."),
    _E.TRUNCATED: _("The answer broke off before its end."),
    _E.LENGTH: _("The answer reached the model's output limit."),
    _E.REFUSED: _("The model refused to judge these texts."),
    _E.EMPTY: _("The model gave an empty answer."),
    _E.INVALID_JSON: _("The answer holds no readable verdict."),
    _E.INVALID_VERDICT: _("The verdict is incomplete or out of range."),
    _E.TOO_LARGE: _("The answer was larger than allowed."),
    _E.STREAM_RESET: _("The connection broke while the model was answering."),
    _E.NOT_ALLOWED: _("The provider is not approved to receive the threads."),
    _E.POISON: _("Judging this comparison ended its worker three times."),
    _E.CANCELLED: _("The session was stopped meanwhile."),
    _E.STALE_ATTEMPT: _("The answer came after its time had run out."),
    _E.INTERNAL_ERROR: _("An error within LLARS Judge."),
}

REASON_WORDS: dict[str, Text] = {
    **ERROR_WORDS,
    "nothing_judged": _("Not one comparison could be judged."),
}

FLAG_WORDS: dict[str, Text] = {
    "forged_delimiter": _("A text imitates the marks between the two threads."),
    "instruction": _("A text gives the judge instructions."),
    "forged_verdict": _("A text contains something that looks like a verdict."),
    "hidden_characters": _("A text contains invisible characters."),
    "other_model": _("The provider answered with another model than the one asked for."),
    "scores_contradict_winner": _("The scores speak for the other text than the verdict."),
}

OUTCOME_WORDS: dict[str, Text] = {
    **ERROR_WORDS,
    "started": _("No answer is recorded for this call."),
    "accepted": _("accepted"),
}

CONSISTENCY_WORDS: dict[str, Text] = {
    "excellent": _("excellent"),
    "good": _("good"),
    "fair": _("fair"),
    "poor": _("poor"),
}

STEP_WORDS: dict[str, Text] = dict(
    zip(
        STEPS,
        (
            _("Overview"),
            _("Strengths of A"),
            _("Strengths of B"),
            _("Weaknesses of A"),
            _("Weaknesses of B"),
            _("Comparison"),
        ),
        strict=True,
    )
)


def words(table: Mapping[Any, Text], code: str) -> Text:
    """The words for a code; a code without words is shown as it is rather than hidden."""
    return table.get(code, code)
