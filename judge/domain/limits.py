"""How fast a provider may be called, and when it is better not called at all: pure decisions over times and outcomes.

Times are seconds on any one clock; the services use the database's.
"""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from judge.domain.errors import ErrorCode

_E = ErrorCode

MINUTE: Final = 60.0
# Calls in a row, over all lanes, that ended alike: nobody answers, or whoever answers is in trouble.
UNREACHABLE_IN_A_ROW: Final = 5
TROUBLED_IN_A_ROW: Final = 20
UNREACHABLE: Final = frozenset({_E.CONNECTION_FAILED})
TROUBLED: Final = UNREACHABLE | {
    _E.SERVER_ERROR,
    _E.TIMEOUT_FIRST_TOKEN,
    _E.TIMEOUT_SILENCE,
    _E.TIMEOUT_TOTAL,
    _E.STREAM_RESET,
    _E.PROTOCOL_ERROR,
}
# For a longer wait a lane gives its comparison back instead of holding it (seconds).
LONGEST_WAIT: Final = 120.0
# A provider that says "slow down" without saying for how long gets twice the last rest, within these bounds (seconds).
SHORTEST_REST: Final = 1.0
LONGEST_REST: Final = 60.0


@dataclass(frozen=True)
class Booking:
    """When one call may start, and from when on the next one may: one pace for requests, one for tokens."""

    start: float
    next_request: float
    next_token: float


def book(
    now: float,
    next_request: float,
    next_token: float,
    tokens: int,
    requests_per_minute: int | None,
    tokens_per_minute: int | None,
) -> Booking:
    """Give a call the first moment that both limits allow; calls are spaced evenly, so no minute ever holds more.

    The generic cell rate algorithm without a burst (ITU-T I.371, annex A): ``next_request`` and ``next_token`` are the
    theoretical arrival times. A limit of None is none, whatever was booked before it was lifted.
    """
    start = max(now, next_request if requests_per_minute else now, next_token if tokens_per_minute else now)
    return Booking(
        start=start,
        next_request=start + MINUTE / requests_per_minute if requests_per_minute else start,
        next_token=start + MINUTE * tokens / tokens_per_minute if tokens_per_minute else start,
    )


def rest(asked: float | None, last_rest: float) -> float:
    """Seconds of rest after a 429: what the provider asked for, else twice the last rest of the same quarrel.

    A wish for no rest at all (0, a date that is over) is none: obeyed to the letter, it would repeat the refused call
    as fast as it can be refused.
    """
    if asked is not None and asked > 0:
        return max(SHORTEST_REST, asked)
    return min(LONGEST_REST, max(SHORTEST_REST, 2 * last_rest))


def shrunk(concurrency: int) -> int:
    """Parallel calls after a 429: half of them, at least one."""
    return max(1, concurrency // 2)


def broken(outcomes: Sequence[str], on_trial: int = 0) -> ErrorCode | None:
    """Why a provider is not to be called any more, from how its last calls ended, newest first; None: it may be.

    ``on_trial``: so many of them were made since it was last given another chance. Until one of these went well, one
    failure is enough.
    """
    newest = [str(outcome) for outcome in outcomes[:TROUBLED_IN_A_ROW]]
    if on_trial and _all_in(newest[:on_trial], TROUBLED):
        return _E(newest[0])
    if len(newest) >= UNREACHABLE_IN_A_ROW and _all_in(newest[:UNREACHABLE_IN_A_ROW], UNREACHABLE):
        return _E(newest[0])
    if len(newest) == TROUBLED_IN_A_ROW and _all_in(newest, TROUBLED):
        return _E(newest[0])
    return None


def _all_in(outcomes: Sequence[str], codes: Set[ErrorCode]) -> bool:
    return bool(outcomes) and all(outcome in codes for outcome in outcomes)
