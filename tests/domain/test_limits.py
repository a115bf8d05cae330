"""How fast a provider may be called, and when not at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.domain.errors import ErrorCode
from judge.domain.limits import (
    LONGEST_REST,
    MINUTE,
    SHORTEST_REST,
    TROUBLED,
    TROUBLED_IN_A_ROW,
    UNREACHABLE_IN_A_ROW,
    book,
    broken,
    rest,
    shrunk,
)

E = ErrorCode
# The rounding of sums of floating-point seconds.
TINY = 1e-6

arrivals = st.lists(st.tuples(st.floats(0, 200), st.integers(1, 5_000)), min_size=1, max_size=60)
requests_limits = st.none() | st.integers(1, 500)
token_limits = st.none() | st.integers(1, 200_000)


def booked(
    calls: list[tuple[float, int]], requests_per_minute: int | None, tokens_per_minute: int | None
) -> list[tuple[float, int]]:
    """When each call starts, and its tokens. Calls ask in the order of the list, whatever their clocks say."""
    starts, next_request, next_token = [], 0.0, 0.0
    for now, tokens in calls:
        booking = book(now, next_request, next_token, tokens, requests_per_minute, tokens_per_minute)
        next_request, next_token = booking.next_request, booking.next_token
        starts.append((booking.start, tokens))
        assert booking.start >= now
    return starts


@given(arrivals, st.integers(1, 500), token_limits)
def test_no_minute_ever_holds_more_requests_than_the_limit(calls, requests_per_minute, tokens_per_minute):
    starts = [start for start, _ in booked(calls, requests_per_minute, tokens_per_minute)]
    for first in starts:
        assert sum(first <= start < first + MINUTE - TINY for start in starts) <= requests_per_minute


@given(arrivals, requests_limits, st.integers(1, 200_000))
def test_no_stretch_of_time_holds_more_tokens_than_the_limit_but_for_its_last_call(
    calls, requests_per_minute, tokens_per_minute
):
    """A single call may have more tokens than a whole minute allows; the next one then waits for all of them."""
    starts = booked(calls, requests_per_minute, tokens_per_minute)
    for index, (first, _) in enumerate(starts):
        used = 0
        for start, tokens in starts[index:]:
            assert used <= tokens_per_minute * (start - first) / MINUTE + tokens_per_minute * TINY
            used += tokens


@given(arrivals)
def test_without_limits_nobody_waits(calls):
    assert [start for start, _ in booked(calls, None, None)] == [now for now, _ in calls]


@given(st.floats(0, 1e9), st.floats(0, 2e9), st.floats(0, 2e9), st.integers(1, 10_000))
def test_a_limit_that_was_lifted_delays_nobody(now, next_request, next_token, tokens):
    assert book(now, next_request, next_token, tokens, None, None).start == now
    assert book(now, next_request, now, tokens, None, 1_000).start == now
    assert book(now, now, next_token, tokens, 10, None).start == now


@given(arrivals, st.integers(1, 500))
def test_the_pace_is_never_slower_than_the_limit_asks_for(calls, requests_per_minute):
    starts = [start for start, _ in booked(calls, requests_per_minute, None)]
    latest = max(now for now, _ in calls)
    assert starts[-1] <= latest + (len(calls) - 1) * MINUTE / requests_per_minute + TINY


@given(st.floats(0.001, 86_400), st.floats(0, 1e5))
def test_a_wish_is_never_undercut(asked, last):
    assert rest(asked, last) >= max(asked, SHORTEST_REST)
    assert rest(asked, last) <= max(asked, SHORTEST_REST)


@pytest.mark.parametrize("asked", [None, 0.0, -3.0])
def test_without_a_wish_rests_double_within_their_bounds(asked):
    rests = [0.0]
    for _ in range(10):
        rests.append(rest(asked, rests[-1]))
    assert rests[1:] == [1, 2, 4, 8, 16, 32, LONGEST_REST, LONGEST_REST, LONGEST_REST, LONGEST_REST]


@given(st.floats(-1e6, 1e6))
def test_no_rest_is_shorter_than_a_second(last):
    assert SHORTEST_REST <= rest(None, last) <= LONGEST_REST


@given(st.integers(1, 1_000))
def test_parallel_calls_are_halved_and_never_end(concurrency):
    assert 1 <= shrunk(concurrency) <= max(1, concurrency / 2)


outcomes = st.lists(st.sampled_from([*sorted(TROUBLED), E.RATE_LIMITED, E.INVALID_JSON, "accepted"]), max_size=30)


@given(outcomes)
def test_a_breaker_opens_after_five_failures_to_connect_or_twenty_of_any_trouble_in_a_row(last):
    is_unreachable = last[:UNREACHABLE_IN_A_ROW] == [E.CONNECTION_FAILED] * UNREACHABLE_IN_A_ROW
    newest = last[:TROUBLED_IN_A_ROW]
    is_troubled = len(newest) == TROUBLED_IN_A_ROW and set(newest) <= TROUBLED
    assert broken(last) == (last[0] if is_unreachable or is_troubled else None)


@given(outcomes, st.integers(1, 30))
def test_on_trial_one_failure_is_enough_until_a_call_went_well(last, on_trial):
    since = last[: min(on_trial, TROUBLED_IN_A_ROW)]
    if since and set(since) <= TROUBLED:
        assert broken(last, on_trial) == last[0]
    else:
        assert broken(last, on_trial) == broken(last)


def test_nothing_on_record_breaks_nothing():
    assert broken([]) is None
    assert broken([], 1) is None
    assert broken([E.SERVER_ERROR] * 19) is None
