"""What time it is, the database says: a worker's clock that is an hour off changes nothing."""

import time
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import JudgeComparison
from judge.services import leases, queue, recovery
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import run_lane
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.queue.test_claims import expire, taken
from tests.queue.threads import beside, until

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


@pytest.fixture(params=[-3600, 3600], ids=["an hour slow", "an hour fast"])
def wrong_clock(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process believes that it is an hour earlier or later. The database does not."""
    real_time, real_now = time.time, timezone.now

    def now() -> datetime:
        return real_now() + timedelta(seconds=request.param)

    monkeypatch.setattr(time, "time", lambda: real_time() + request.param)
    monkeypatch.setattr(timezone, "now", now)


def test_a_wrong_clock_rescues_nothing_early_and_misses_nothing(make_session: MakeSession, wrong_clock: None) -> None:
    session = make_session()
    held, lost = taken(session, 0), taken(session, 1)
    assert recovery.give_back_expired() == (0, 0)
    assert queue.extend([held.token, lost.token]) == {held.token, lost.token}
    assert recovery.give_back_expired() == (0, 0)
    expire(lost)
    assert recovery.give_back_expired() == (1, 0)
    rows = JudgeComparison.objects.in_bulk([held.comparison_id, lost.comparison_id])
    assert (rows[held.comparison_id].status, rows[lost.comparison_id].status) == ("running", "pending")


def test_a_session_is_judged_to_its_end_with_a_wrong_clock(
    make_session: MakeSession, server: SimulatedServer, wrong_clock: None
) -> None:
    session = make_session(threads=2)
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        assert recovery.give_back_expired() == (0, 0)
    session.refresh_from_db()
    assert (session.status, server.calls) == (SessionStatus.COMPLETED, session.total_comparisons)
    moments = JudgeComparison.objects.filter(session=session).values_list("started_at", "completed_at")
    assert all(started <= completed for started, completed in moments)


def test_a_comparison_that_takes_three_workers_down_fails_and_the_others_are_judged(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session(threads=2)
    for _ in range(3):
        claimed = taken(session)
        expire(claimed)
        recovery.recover()
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons, session.failed_comparisons) == ("completed", 3, 1)
    row = JudgeComparison.objects.get(session=session, status="failed")
    assert (row.pk, row.error_code, row.attempt_count) == (claimed.comparison_id, ErrorCode.POISON, 3)
    assert server.calls == 3


def test_a_worker_asked_to_end_in_mid_answer_gives_the_comparison_back_without_counting_it(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=120_000, chunks=2400)
    session = make_session()
    with beside(lambda: run_lane(session.pk, 0)) as lane:
        until(lambda: server.calls == 1, "the call")
        began = time.monotonic()
        leases.STOPPING.set()
        assert lane.result(30) is False
    assert time.monotonic() - began < 30
    row = JudgeComparison.objects.get(session=session, queue_position=0)
    assert (row.status, row.attempt_count, row.lost_leases, row.claim_token) == ("pending", 0, 0, None)
    assert row.attempts.get().outcome == ErrorCode.CANCELLED
