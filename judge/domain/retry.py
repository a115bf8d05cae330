"""What to do after an LLM call failed: a pure decision, without clock and without dice."""

from dataclasses import dataclass
from typing import Final

from judge.domain.errors import ErrorCode

_E = ErrorCode

RETRIED: Final = frozenset(
    {
        _E.CONNECTION_FAILED,
        _E.TIMEOUT_FIRST_TOKEN,
        _E.TIMEOUT_SILENCE,
        _E.TIMEOUT_TOTAL,
        _E.RATE_LIMITED,
        _E.SERVER_ERROR,
        _E.PROTOCOL_ERROR,
        _E.TRUNCATED,
        _E.STREAM_RESET,
    }
)
RETRIED_ONCE: Final = frozenset({_E.LENGTH, _E.EMPTY, _E.TOO_LARGE})
REASKED: Final = frozenset({_E.INVALID_JSON, _E.INVALID_VERDICT})
# No comparison of this judge can succeed before somebody changes something at the provider.
STOPPING: Final = frozenset({_E.INSUFFICIENT_QUOTA, _E.UNAUTHORIZED, _E.ADDRESS_REFUSED, _E.MODEL_NOT_FOUND})


@dataclass(frozen=True)
class RetryPolicy:
    """Limits of one comparison: re-asks after invalid answers, calls in all, and delays in seconds."""

    max_reasks: int = 2
    max_calls: int = 6
    base_delay: float = 1.0
    max_delay: float = 60.0


@dataclass(frozen=True)
class Reask:
    """Ask again at once, saying what was wrong with the answer."""


@dataclass(frozen=True)
class RetryAfter:
    """Send the same request again after `seconds`, with a larger output limit if `more_tokens`."""

    seconds: float
    more_tokens: bool = False


@dataclass(frozen=True)
class GiveUp:
    """The comparison fails with `code`."""

    code: ErrorCode


@dataclass(frozen=True)
class StopJudge:
    """The provider is unusable: the comparison goes back to pending and its judge stops with `reason`."""

    reason: ErrorCode


Decision = Reask | RetryAfter | GiveUp | StopJudge


def backoff(calls_made: int, policy: RetryPolicy, jitter: float) -> float:
    """Seconds to wait after the `calls_made`-th call (from 1): doubling from base_delay up to max_delay, of which the
    upper half is spread by `jitter` in [0, 1), so that lanes do not return in step."""
    ceiling = min(policy.max_delay, policy.base_delay * 2.0 ** min(max(calls_made - 1, 0), 60))
    return ceiling * (0.5 + 0.5 * jitter)


def decide(
    code: ErrorCode,
    calls_made: int,
    reasks_made: int,
    retry_after: float | None,
    policy: RetryPolicy,
    jitter: float,
    same_code_calls: int | None = None,
) -> Decision:
    """What to do after the last call of a comparison ended with `code`.

    `calls_made` and `reasks_made` count this comparison's calls so far, the last included, but without those that were
    refused as too many: these are the provider's pace, not the comparison's fault, and never exhaust it. `retry_after`
    is the provider's own wish in seconds and never undercut; `jitter` lies in [0, 1). `same_code_calls` is how many of
    the calls ended with this very code (for codes that are retried once); unknown, every earlier call counts as one.
    """
    if code in STOPPING:
        return StopJudge(code)
    if calls_made >= policy.max_calls and code is not _E.RATE_LIMITED:
        return GiveUp(code)
    if code in REASKED:
        return Reask() if reasks_made < policy.max_reasks else GiveUp(code)
    if code in RETRIED_ONCE and (calls_made if same_code_calls is None else same_code_calls) > 1:
        return GiveUp(code)
    if code in RETRIED or code in RETRIED_ONCE:
        delay = backoff(calls_made, policy, jitter)
        if retry_after is not None:
            delay = max(delay, retry_after + policy.base_delay * jitter)
        return RetryAfter(delay, more_tokens=code is _E.LENGTH)
    return GiveUp(code)
