"""Workers are killed, asked to end, and lose their broker: no verdict is lost and none is there twice."""

import signal
import subprocess
from pathlib import Path

import pytest
import redis
from django.db.models import Count

from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeComparison, JudgeEvaluation, JudgeSession
from judge.selectors.progress import status_counts
from judge.services import control
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for

pytestmark = [
    pytest.mark.queue,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


def fresh(session: JudgeSession) -> JudgeSession:
    session.refresh_from_db()
    return session


def assert_complete(session: JudgeSession, server: SimulatedServer) -> None:
    """Every comparison has exactly one verdict, the counters add up, and every call is on record."""
    assert status_counts(session) == {"pending": 0, "running": 0, "completed": session.total_comparisons, "failed": 0}
    assert fresh(session).completed_comparisons == session.total_comparisons
    verdicts = JudgeEvaluation.objects.filter(comparison__session=session)
    assert verdicts.count() == verdicts.values("comparison").distinct().count() == session.total_comparisons
    accepted = JudgeAttempt.objects.filter(comparison__session=session, outcome="accepted")
    assert not accepted.values("comparison").annotate(n=Count("pk")).filter(n__gt=1).exists()
    assert accepted.count() == session.total_comparisons
    assert server.calls <= JudgeAttempt.objects.filter(comparison__session=session).count()


def test_a_killed_worker_loses_and_doubles_nothing(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: "subprocess.Popen[bytes]"
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=150, chunks=10)
    session = make_session(threads=8, repetitions_per_pair=2, worker_count=5, is_started=False)
    assert session.total_comparisons == 32
    worker = start_worker()
    control.start(session.pk)
    for judged in (4, 14):
        wait_for(lambda judged=judged: fresh(session).completed_comparisons >= judged, 40, f"{judged} verdicts")  # type: ignore[misc]
        wait_for(lambda: JudgeComparison.objects.filter(session=session).in_lanes().exists(), 20, "a running lane")
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        assert fresh(session).status == SessionStatus.RUNNING
        worker = start_worker()
    wait_for(lambda: fresh(session).status == SessionStatus.COMPLETED, 60, "the session to complete")
    assert_complete(session, server)
    repeated = server.calls - session.total_comparisons
    assert 0 <= repeated <= 2 * session.worker_count


def test_a_worker_asked_to_end_gives_its_comparisons_back_at_once(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=60_000, chunks=200)
    session = make_session(worker_count=3, is_started=False)
    worker = start_worker()
    control.start(session.pk)
    wait_for(lambda: status_counts(session)["running"] == 3, 40, "three running lanes")
    worker.send_signal(signal.SIGTERM)
    worker.wait(30)
    assert status_counts(session) == {"pending": session.total_comparisons, "running": 0, "completed": 0, "failed": 0}
    assert set(JudgeComparison.objects.filter(session=session).values_list("attempt_count", flat=True)) == {0}


def test_a_flushed_redis_costs_no_verdict(
    make_session: MakeSession,
    server: SimulatedServer,
    broker: redis.Redis,
    start_worker: Start,
    beat: "subprocess.Popen[bytes]",
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=100, chunks=5)
    session = make_session(threads=8, worker_count=3, is_started=False)
    start_worker()
    control.start(session.pk)
    wait_for(lambda: fresh(session).completed_comparisons >= 2, 40, "two verdicts")
    broker.flushall()
    wait_for(lambda: fresh(session).status == SessionStatus.COMPLETED, 60, "the session to complete")
    assert_complete(session, server)
    assert server.calls == session.total_comparisons


def test_a_worker_frozen_for_longer_than_its_lease_writes_nothing_when_it_wakes(
    make_session: MakeSession,
    server: SimulatedServer,
    start_worker: Start,
    beat: "subprocess.Popen[bytes]",
    tmp_path: Path,
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=1500, chunks=10)
    session = make_session(threads=2, worker_count=2, is_started=False)
    frozen = start_worker()
    control.start(session.pk)
    # In mid-stream: on SQLite a process that is frozen inside a transaction holds the whole file.
    wait_for(lambda: server.calls == 2, 40, "two calls under way")
    frozen.send_signal(signal.SIGSTOP)
    start_worker()
    wait_for(lambda: fresh(session).status == SessionStatus.COMPLETED, 60, "the session to complete")
    frozen.send_signal(signal.SIGCONT)
    log = tmp_path / "worker-1.log"  # beat wrote the first
    wait_for(lambda: "stale_attempt" in log.read_text(), 30, "the late answers to be thrown away")
    assert_complete(session, server)
    late = JudgeAttempt.objects.filter(comparison__session=session).exclude(outcome="accepted")
    assert set(late.values_list("outcome", flat=True)) == {"stale_attempt"}
