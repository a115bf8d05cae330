"""A worker is killed at every point of a comparison: no verdict is lost or there twice, no call goes uncounted."""

import signal
import time
from multiprocessing.context import ForkServerProcess

import pytest
from django.db import connection, transaction

from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeComparison, JudgeSession
from judge.services import control
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import (
    answers_take,
    assert_complete,
    blocked_backends,
    fresh,
    needs_postgres,
    running,
    wait_until_completed,
)
from tests.services import workers

pytestmark = [
    pytest.mark.queue,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]

# Seconds; the first piece comes after 60 ms, the last one after a minute.
PIECES_HAVE_COME = 1.0


def kill(worker: ForkServerProcess) -> None:
    """End it without a word, and see to it that it is gone."""
    workers.send(worker, signal.SIGKILL)
    worker.join(10)


def outcomes(comparison: JudgeComparison) -> list[str]:
    """What became of a comparison's calls, in their order."""
    return list(JudgeAttempt.objects.filter(comparison=comparison).order_by("pk").values_list("outcome", flat=True))


@needs_postgres
def test_killed_before_its_call_a_comparison_is_claimed_again_and_costs_no_call(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(threads=1, worker_count=1)
    with transaction.atomic(), connection.cursor() as cursor:
        # A call is written down before it is made: here it cannot be.
        cursor.execute(f"LOCK TABLE {JudgeAttempt._meta.db_table} IN SHARE MODE")
        worker = start_worker()
        wait_for(lambda: bool(blocked_backends("worker", "relation")), 40, "a worker that is about to call")
        (held,) = running(session)
        kill(worker)
        assert server.calls == 0
    killed_at = time.monotonic()
    start_worker("second")
    wait_for(lambda: server.calls > 0, 45, "the comparison to be called for")
    assert time.monotonic() - killed_at < 45
    wait_until_completed(session)
    assert_complete(session, server)
    held.refresh_from_db()
    assert held.attempt_count == 2
    assert server.calls == session.total_comparisons


def test_killed_in_mid_stream_a_comparison_is_judged_once_more_and_the_piece_is_dropped(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    server.judge.settings = SimulatedSettings(latency_ms=60_000, chunks=200, first_token_share=0.001)
    session = make_session(threads=1, worker_count=1, is_started=False)
    worker = start_worker()
    control.start(session.pk)
    wait_for(lambda: server.calls == 1, 40, "a call")
    time.sleep(PIECES_HAVE_COME)
    (held,) = running(session)
    kill(worker)
    answers_take(server, 0)
    start_worker("second")
    wait_until_completed(session)
    assert_complete(session, server)
    assert outcomes(held) == ["started", "accepted"]
    assert JudgeAttempt.objects.filter(comparison=held).order_by("pk")[0].raw_response == ""
    assert server.calls == session.total_comparisons + 1


def test_killed_between_answer_and_commit_a_comparison_has_one_verdict_and_one_call_more_at_most(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    answers_take(server, 500)
    session = make_session(threads=1, worker_count=1, is_started=False)
    worker = start_worker()
    control.start(session.pk)
    wait_for(lambda: server.calls == 1, 40, "a call")
    with transaction.atomic():
        # The last statement of every commit needs the session's row; SQLite has one lock, which this takes as well.
        JudgeSession.objects.select_for_update().get(pk=session.pk)
        if connection.vendor == "postgresql":
            wait_for(lambda: bool(blocked_backends("worker")), 20, "an answer that cannot be committed")
        else:
            time.sleep(1.5)  # the answer is complete after 0.5 s
        (held,) = running(session)
        kill(worker)
    start_worker("second")
    wait_until_completed(session)
    assert_complete(session, server)
    # PostgreSQL has the whole verdict in one statement and may finish it without the client; else it is judged again.
    calls = len(outcomes(held))
    assert outcomes(held) in (["accepted"], ["started", "accepted"])
    assert server.calls == session.total_comparisons + calls - 1


def test_killed_right_after_a_commit_nothing_of_it_runs_again(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(threads=2, worker_count=1, is_started=False)
    worker = start_worker()
    answers_take(server, 300)
    control.start(session.pk)
    wait_for(lambda: fresh(session).completed_comparisons == 2, 40, "two verdicts")
    kill(worker)
    judged = list(JudgeComparison.objects.filter(session=session, status="completed"))
    start_worker("second")
    wait_until_completed(session)
    assert_complete(session, server)
    assert [outcomes(comparison) for comparison in judged] == [["accepted"]] * len(judged)
    assert {JudgeComparison.objects.get(pk=row.pk).attempt_count for row in judged} == {1}
    assert server.calls <= session.total_comparisons + 1


def test_workers_killed_again_and_again_lose_and_double_nothing(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    answers_take(server, 150)
    session = make_session(threads=8, repetitions_per_pair=2, worker_count=5, is_started=False)
    assert session.total_comparisons == 32
    worker = start_worker()
    control.start(session.pk)
    for judged in (4, 14):
        wait_for(lambda judged=judged: fresh(session).completed_comparisons >= judged, 40, f"{judged} verdicts")  # type: ignore[misc]
        wait_for(lambda: bool(running(session)), 20, "a running lane")
        kill(worker)
        assert fresh(session).status == SessionStatus.RUNNING
        worker = start_worker(f"after-{judged}")
    wait_until_completed(session)
    assert_complete(session, server)
    assert 0 <= server.calls - session.total_comparisons <= 2 * session.worker_count
