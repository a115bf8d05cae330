"""Codes that the database stores, put into words for people: reasons, errors, flags, labels of the statistics."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from judge.domain.errors import ErrorCode
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.domain.verdict import STEPS

Text = str | Promise

MODE_LINES = {
    ComparisonMode.PILLAR_SAMPLE: _("Random samples of each two pillars, compared one to one. A quick overview."),
    ComparisonMode.ROUND_ROBIN: _("Every thread of one pillar against every thread of the other."),
    ComparisonMode.FREE_FOR_ALL: _("Every thread against every other thread, within pillars too."),
    ComparisonMode.ADAPTIVE: _("The next comparisons are chosen where they tell most."),
}
STRATEGY_LINES = {
    SamplingStrategy.ROTATING: _("No thread is drawn again before all others had their turn. Recommended."),
    SamplingStrategy.FIXED: _("Every repetition draws anew, whatever was drawn before."),
    SamplingStrategy.PROPORTIONAL: _("Larger pillars give more threads, smaller ones fewer."),
    SamplingStrategy.BOOTSTRAP: _("Threads may be drawn again and again, as for bootstrap intervals."),
}

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
    _E.MODEL_NOT_FOUND: _("The provider does not know this model, or its address is wrong (it usually ends in /v1)."),
    _E.KEY_UNREADABLE: _("The provider's stored key cannot be read. Please enter it again, or ask the operator."),
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
    _E.STORAGE: _("The database cannot store anything: its disk is full, or it is read-only."),
    _E.POISON: _("Judging this comparison ended its worker three times."),
    _E.CANCELLED: _("The session was stopped meanwhile."),
    _E.STALE_ATTEMPT: _("The answer came after its time had run out."),
    _E.INTERNAL_ERROR: _("An error within LLARS Judge."),
}

REASON_WORDS: dict[str, Text] = {
    **ERROR_WORDS,
    "nothing_judged": _("Not one comparison could be judged."),
}

# Why a session does not go on, or not faster (judge.selectors.causes). Values in brackets belong to the code.
CAUSE_WORDS: dict[str, Text] = {
    "lease_expired": _("Worker %(lane)s lost its comparison; another one takes it over within seconds."),
    "not_recovered": _(
        "Worker %(lane)s lost its comparison %(seconds)s seconds ago and nobody took it over. The clock process (beat) "
        "does not seem to run."
    ),
    "no_worker": _(
        "Comparisons have been waiting for %(seconds)s seconds and no worker takes them. Is a worker process running?"
    ),
    "not_taken_yet": _("No worker has taken a comparison yet. If this lasts, no worker process is running."),
    "plan_expected": _("What is to be compared next is being planned."),
    "plan_missing": _(
        "For %(seconds)s seconds nothing has been planned, although there is more to compare. Is a worker process "
        "running?"
    ),
    "broker_away": _(
        "Comparisons wait, but Redis cannot be reached, so no worker hears of them. Nothing is lost: judging goes on "
        "once Redis is back."
    ),
    "provider_cooling": _("%(provider)s asked for a rest; it is called again at %(until)s."),
    "breaker_open": _(
        "%(provider)s is not called at present. %(reason)s It is tried every 30 seconds, and judging goes on by itself."
    ),
    "judge_stopped": _("The judge %(judge)s (%(provider)s) is stopped in this session. %(reason)s"),
    "slots_taken": _(
        "All parallel calls that %(provider)s allows (%(places)s) are in use, %(others)s of them by other sessions."
    ),
    "counters_mismatch": _("The session's counters do not agree with its comparisons. Please tell the operator."),
    "paused": _("The session was paused by a person."),
    "paused_because": _("The session is paused. %(reason)s"),
    "paused_until_back": _("The session is paused. %(reason)s It goes on by itself once the provider answers again."),
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


def cause(code: str, **values: object) -> Text:
    """The sentence for a cause with its values filled in; an unknown code is shown as it is."""
    sentence = CAUSE_WORDS.get(code)
    return code if sentence is None else str(sentence) % values
