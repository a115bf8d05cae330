"""A worker that stands still for longer than its leases, and goes on as if nothing had been."""

import signal
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from judge.models import JudgeAttempt
from judge.services import control
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import answers_take, assert_complete, wait_until_completed
from tests.queue.held import held
from tests.services import workers

pytestmark = [
    pytest.mark.queue,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


def test_a_worker_frozen_for_longer_than_its_lease_writes_nothing_when_it_wakes(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess, tmp_path: Path
) -> None:
    answers_take(server, 100)
    session = make_session(threads=2, worker_count=2, is_started=False)
    frozen = start_worker("frozen")
    with held(server):
        control.start(session.pk)
        # In mid-call: on SQLite a process that is frozen inside a transaction holds the whole file.
        wait_for(lambda: server.calls == 2, 40, "two calls under way")
        workers.send(frozen, signal.SIGSTOP)
    start_worker("second")
    wait_until_completed(session)
    workers.send(frozen, signal.SIGCONT)
    log = tmp_path / "frozen.log"
    wait_for(lambda: "stale_attempt" in log.read_text(), 30, "the late answers to be thrown away")
    late = JudgeAttempt.objects.filter(comparison__session=session).exclude(outcome="accepted")
    wait_for(lambda: set(late.values_list("outcome", flat=True)) == {"stale_attempt"}, 10, "both calls on record")
    assert_complete(session, server)
    assert server.calls == session.total_comparisons + 2
