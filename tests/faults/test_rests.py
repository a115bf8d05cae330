"""A provider that asks to slow down is obeyed, by all lanes of all sessions (faults 23 and 25)."""

import time
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from judge.domain import limits
from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeModel, ProviderState
from judge.selectors.health import health
from judge.services import cooling
from judge.services.lanes import run_lane
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.conftest import MakeSession
from tests.faults.conftest import Gate
from tests.faults.playing import (
    at_work,
    comparisons,
    judge_all,
    moments,
    one_comparison,
    only_comparison,
    outcomes,
    reason,
    rest_is_over,
    state,
    untouched,
)
from tests.queue.held import held
from tests.queue.threads import beside, together, until

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

TOO_MANY = {"kind": "status", "status": 429}


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [
        ({"retry_after": "1"}, 1.0),
        ({"retry_after_ms": "1300", "retry_after": "9"}, 1.3),
        ({"retry_after": "Mon, 01 Jan 2024 00:00:01 GMT", "date": "Mon, 01 Jan 2024 00:00:00 GMT"}, 1.0),
        ({"retry_after": "soon"}, limits.SHORTEST_REST),
        ({"retry_after": "0"}, limits.SHORTEST_REST),
        ({}, limits.SHORTEST_REST),
    ],
    ids=["seconds", "milliseconds", "HTTP date", "nonsense", "no time at all", "no wish"],
)
def test_no_lane_of_any_session_calls_before_the_provider_has_rested(
    make_session: MakeSession, server: SimulatedServer, wish: dict[str, str], seconds: float
) -> None:
    first, second = (make_session(threads=2, worker_count=2) for _ in range(2))
    server.script({**TOO_MANY, **wish})
    with beside(lambda: run_lane(first.pk, 0)):
        until(lambda: ProviderState.objects.filter(blocked_until__isnull=False).exists(), "the rest")
        with at_work(first, second):
            until(lambda: reason(first)[0] == reason(second)[0] == SessionStatus.COMPLETED, "the end of both sessions")
    assert server.calls == 1 + first.total_comparisons + second.total_comparisons
    refused, *others = moments(server)
    assert seconds <= others[0] - refused < seconds + 3
    assert sorted(outcomes(first) + outcomes(second)) == ["accepted"] * (server.calls - 1) + [ErrorCode.RATE_LIMITED]


def test_an_hours_rest_is_shown_and_its_end_needs_nobody(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    first, second = (make_session(threads=2, worker_count=2) for _ in range(2))
    server.script({**TOO_MANY, "retry_after": "3600"})
    run_lane(first.pk, 0)
    assert [run_lane(session.pk, lane) for session in (first, second) for lane in (0, 1)] == [False] * 4
    assert (server.calls, outcomes(first)) == (1, [ErrorCode.RATE_LIMITED])
    assert untouched(first)
    known = state(model.provider_id)
    assert abs(known.blocked_until - known.now - timedelta(hours=1)) < timedelta(minutes=1)
    assert known.blocked_reason == ErrorCode.RATE_LIMITED
    for session in (first, second):
        assert reason(session)[0] in (SessionStatus.RUNNING, SessionStatus.QUEUED)
        shown = health(session)
        assert (shown.state, [cause.code for cause in shown.causes]) == ("waiting", ["provider_cooling"])
        assert shown.causes[0].until == known.blocked_until
    rest_is_over(model.provider_id)
    assert [judge_all(session).status for session in (first, second)] == [SessionStatus.COMPLETED] * 2
    assert server.calls == 1 + first.total_comparisons + second.total_comparisons


def test_a_rest_that_begins_while_a_lane_waits_to_try_again_holds_for_that_lane_too(
    make_session: MakeSession, server: SimulatedServer, gate: Gate
) -> None:
    """One lane waits after a server error when another is told to slow down."""
    session = make_session(worker_count=2)
    server.script({"kind": "status", "status": 500}, {**TOO_MANY, "retry_after_ms": "1000"})
    with ExitStack() as lanes:
        lanes.callback(gate.set)
        lanes.enter_context(beside(lambda: run_lane(session.pk, 0), then=gate.set))
        until(lambda: gate.waiting == 1, "the lane that was told of a server error to wait")
        lanes.enter_context(beside(lambda: run_lane(session.pk, 1), then=gate.set))
        until(lambda: gate.waiting == 2, "the lane that was told to slow down to wait")
    _failed, refused, *others = moments(server)
    assert len(others) == 2
    assert min(others) - refused >= 1


def test_a_server_error_is_retried_and_leaves_the_concurrency_as_it_is(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    trouble = (500, 502, 503, 529)
    server.script(*[step for status in trouble for step in ({"kind": "status", "status": status}, "ok")])
    session = judge_all(comparisons(make_session, len(trouble)))
    assert outcomes(session) == [ErrorCode.SERVER_ERROR, "accepted"] * len(trouble)
    assert server.calls == 2 * len(trouble)
    failed = JudgeAttempt.objects.filter(number=1).order_by("pk")
    assert tuple(failed.values_list("http_status", flat=True)) == trouble
    assert not ProviderState.objects.filter(concurrency__isnull=False).exists()


def test_a_server_error_with_a_wish_is_obeyed_and_leaves_the_concurrency_as_it_is(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    server.script({"kind": "status", "status": 503, "retry_after": "1"})
    session = judge_all(one_comparison(make_session))
    assert outcomes(session) == [ErrorCode.SERVER_ERROR, "accepted"]
    failed, again = moments(server)
    assert again - failed >= 1
    known = state(model.provider_id)
    assert (known.concurrency, known.blocked_reason) == (None, ErrorCode.SERVER_ERROR)


def test_lanes_that_are_refused_at_once_halve_the_concurrency_once_and_it_recovers(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(worker_count=5, threads=6)
    server.script(*[{**TOO_MANY, "retry_after": "1"}] * 5)

    def lane(worker_id: int) -> Any:
        return lambda: run_lane(session.pk, worker_id)

    with held(server) as release:

        def answer_all_at_once() -> None:
            try:
                until(lambda: server.calls == 5, "five calls")
            finally:
                release()

        together(*[lane(worker_id) for worker_id in range(5)], answer_all_at_once)
    # Of five lanes two keep their places, wait and call again; three give their comparisons back uncounted.
    assert (state(model.provider_id).concurrency, server.calls) == (2, 7)
    assert sorted(outcomes(session)) == ["accepted"] * 2 + [ErrorCode.RATE_LIMITED] * 5
    rows = session.comparisons.values_list("status", "attempt_count")
    assert sorted(rows) == [("completed", 1)] * 2 + [("pending", 0)] * 10
    monkeypatch.setattr(cooling, "GROW_EVERY_SECONDS", 0.1)
    server.judge.settings = SimulatedSettings(latency_ms=100)
    assert judge_all(session).status == SessionStatus.COMPLETED
    assert state(model.provider_id).concurrency is None


def test_without_a_wish_each_refusal_doubles_the_rest_and_a_quarrel_of_yesterday_is_forgotten(
    model: JudgeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused() -> cooling.Rest:
        return cooling.cool(model.provider_id, ErrorCode.RATE_LIMITED, None, time.monotonic())

    def later(seconds: float) -> None:
        known = state(model.provider_id)
        back = known.blocked_until - known.now + timedelta(seconds=seconds)
        ProviderState.objects.filter(pk=known.pk).update(
            blocked_until=known.blocked_until - back, changed_at=known.changed_at - back
        )

    rests = []
    for _ in range(8):
        rests.append(refused().seconds)
        later(1)
    assert rests == pytest.approx([1, 2, 4, 8, 16, 32, 60, 60], abs=0.2)
    later(24 * 3600)
    assert refused().seconds == pytest.approx(1, abs=0.2)


def test_a_comparison_is_never_given_up_because_its_provider_is_busy(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.script(*[{**TOO_MANY, "retry_after_ms": "1"}] * 2, *["bad_winner", "bad_score"])
    session = one_comparison(make_session)
    assert judge_all(session).status == SessionStatus.COMPLETED
    assert outcomes(session) == [*[ErrorCode.RATE_LIMITED] * 2, *[ErrorCode.INVALID_VERDICT] * 2, "accepted"]
    assert only_comparison(session).attempt_count == 1
