"""Wake-ups may be doubled, lost or late: the database decides what is judged."""

import pytest
from django.conf import settings

from judge import tasks
from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeEvaluation, JudgeSession
from judge.models.session import LIVE_STATUSES
from judge.selectors.progress import status_counts
from judge.services import recovery, wakeups
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.queue.threads import beside, together

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

VERSION = wakeups.PAYLOAD_VERSION
Sent = list[tuple[str, tuple[int, ...]]]


def is_live(session: JudgeSession) -> bool:
    return JudgeSession.objects.filter(pk=session.pk, status__in=LIVE_STATUSES).exists()


def test_a_wakeup_delivered_five_times_over_never_opens_more_lanes_than_there_are(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=30, chunks=3)
    session = make_session(threads=6, worker_count=2)
    most_running = 0

    def deliver(worker_id: int) -> None:
        while is_live(session):
            tasks.run_lane(session.pk, worker_id, version=VERSION)

    def watch() -> None:
        nonlocal most_running
        while is_live(session):
            most_running = max(most_running, status_counts(session)["running"])

    with beside(watch):
        together(*(lambda lane=number % 2: deliver(lane) for number in range(10)))  # type: ignore[misc]
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 12)
    assert most_running <= 2
    assert 1 <= server.most_at_once <= 2
    assert server.calls == JudgeAttempt.objects.count() == JudgeEvaluation.objects.count() == 12


def test_a_wakeup_for_a_lane_that_the_session_does_not_have_judges_nothing(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session(worker_count=2)
    tasks.run_lane(session.pk, 2, version=VERSION)
    assert server.calls == 0
    assert status_counts(session)["pending"] == session.total_comparisons


def test_lanes_whose_wakeups_were_never_delivered_are_woken_by_recovery(
    make_session: MakeSession, sent_wakeups: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as lost:
        lost.setattr(wakeups, "_send", lambda task, *ids: None)
        session = make_session(threads=2, worker_count=2)
    assert sent_wakeups == []
    while is_live(session):
        assert recovery.recover().woken >= 1
        lanes = [ids for task, ids in sent_wakeups if task == wakeups.RUN_LANE]
        sent_wakeups.clear()
        for session_id, worker_id in lanes:
            tasks.run_lane(session_id, worker_id, version=VERSION)
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 4)


def test_beat_looks_for_lost_work_every_ten_seconds() -> None:
    entry = settings.CELERY_BEAT_SCHEDULE["recover"]
    assert entry["task"] == tasks.recover.name
    assert 0 < entry["schedule"] <= 10


def test_a_wakeup_for_a_session_that_is_gone_is_done_at_once(server: SimulatedServer) -> None:
    tasks.run_lane(987_654_321, 0, version=VERSION)
    tasks.refresh_results(987_654_321, version=VERSION)
    assert server.calls == 0
