"""What follows a failed call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.domain.errors import ErrorCode
from judge.domain.retry import GiveUp, Reask, RetryAfter, RetryPolicy, StopJudge, backoff, decide

E = ErrorCode
POLICY = RetryPolicy()
PASSING = [
    E.CONNECTION_FAILED,
    E.TIMEOUT_FIRST_TOKEN,
    E.TIMEOUT_SILENCE,
    E.TIMEOUT_TOTAL,
    E.RATE_LIMITED,
    E.SERVER_ERROR,
    E.PROTOCOL_ERROR,
    E.TRUNCATED,
    E.STREAM_RESET,
]
FINAL = [
    E.REFUSED,
    E.TOO_LONG,
    E.BAD_REQUEST,
    E.POISON,
    E.CANCELLED,
    E.STALE_ATTEMPT,
    E.INTERNAL_ERROR,
]


@pytest.mark.parametrize("code", PASSING)
def test_a_passing_fault_is_retried_until_the_calls_are_used_up(code: ErrorCode):
    for calls in range(1, POLICY.max_calls):
        assert isinstance(decide(code, calls, 0, None, POLICY, 0.5), RetryAfter)
    last = decide(code, POLICY.max_calls, 0, None, POLICY, 0.5)
    if code is E.RATE_LIMITED:  # the provider's pace is not the comparison's fault
        assert isinstance(last, RetryAfter)
    else:
        assert last == GiveUp(code)


@pytest.mark.parametrize("code", FINAL)
def test_what_would_fail_again_is_given_up_at_once(code: ErrorCode):
    assert decide(code, 1, 0, None, POLICY, 0.5) == GiveUp(code)


@pytest.mark.parametrize("code", [E.INSUFFICIENT_QUOTA, E.UNAUTHORIZED, E.MODEL_NOT_FOUND])
@pytest.mark.parametrize("calls", [1, POLICY.max_calls])
def test_an_unusable_provider_stops_its_judge_with_the_reason(code: ErrorCode, calls: int):
    assert decide(code, calls, 0, 5.0, POLICY, 0.5) == StopJudge(code)


@pytest.mark.parametrize("code", [E.INVALID_JSON, E.INVALID_VERDICT])
def test_an_invalid_answer_is_asked_again_twice_and_then_fails(code: ErrorCode):
    assert [decide(code, reasks + 1, reasks, None, POLICY, 0.5) for reasks in range(3)] == [
        Reask(),
        Reask(),
        GiveUp(code),
    ]
    assert decide(code, POLICY.max_calls, 0, None, POLICY, 0.5) == GiveUp(code)


@pytest.mark.parametrize("code", [E.LENGTH, E.EMPTY, E.TOO_LARGE])
def test_some_faults_are_retried_once(code: ErrorCode):
    first = decide(code, 1, 0, None, POLICY, 0.5)
    assert isinstance(first, RetryAfter)
    assert first.more_tokens is (code is E.LENGTH)
    assert decide(code, 2, 0, None, POLICY, 0.5) == GiveUp(code)
    assert isinstance(decide(code, 3, 0, None, POLICY, 0.5, same_code_calls=1), RetryAfter)
    assert decide(code, 3, 0, None, POLICY, 0.5, same_code_calls=2) == GiveUp(code)


def test_every_code_has_a_decision():
    for code in ErrorCode:
        assert isinstance(decide(code, 1, 0, None, POLICY, 0.0), Reask | RetryAfter | GiveUp | StopJudge)


@given(st.floats(0, 7200), st.integers(1, 5), st.floats(0, 1, exclude_max=True))
def test_the_providers_own_wish_is_never_undercut(wish: float, calls: int, jitter: float):
    decision = decide(E.RATE_LIMITED, calls, 0, wish, POLICY, jitter)
    assert isinstance(decision, RetryAfter)
    assert decision.seconds >= wish
    assert decision.seconds <= max(wish + POLICY.base_delay, POLICY.max_delay)


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_the_delay_doubles_up_to_its_limit_and_half_of_it_is_spread(calls: int, jitter: float):
    ceiling = min(POLICY.max_delay, 2.0 ** min(calls - 1, 30))
    assert ceiling / 2 <= backoff(calls, POLICY, jitter) <= ceiling


def test_two_lanes_with_different_jitter_do_not_return_in_step():
    assert backoff(3, POLICY, 0.1) != backoff(3, POLICY, 0.9)
