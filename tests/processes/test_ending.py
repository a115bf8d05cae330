"""A worker that is asked to end (SIGTERM) goes within seconds, and its comparisons are as if it had never had them."""

import signal
import time
from typing import Any

import pytest

from judge.models import JudgeComparison
from judge.selectors.progress import status_counts
from judge.services import control
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import answers_take
from tests.services import workers

pytestmark = [
    pytest.mark.queue,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(None, id="while a long answer streams"),
        pytest.param({"kind": "silence"}, id="while the model is silent"),
        pytest.param({"kind": "status", "status": 429, "retry_after": "60"}, id="while the provider rests"),
    ],
)
def test_a_worker_asked_to_end_gives_its_comparisons_back_at_once(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, fault: Any
) -> None:
    answers_take(server, 60_000, chunks=200)
    server.script(rules=[fault] if fault else [])
    session = make_session(worker_count=3, is_started=False)
    worker = start_worker()
    control.start(session.pk)
    wait_for(lambda: status_counts(session)["running"] == 3, 40, "three running lanes")
    wait_for(lambda: server.calls > 0, 10, "a call")
    asked = time.monotonic()
    workers.send(worker, signal.SIGTERM)
    worker.join(30)
    assert worker.exitcode == 0
    assert time.monotonic() - asked < 30
    assert status_counts(session) == {"pending": session.total_comparisons, "running": 0, "completed": 0, "failed": 0}
    assert set(JudgeComparison.objects.filter(session=session).values_list("attempt_count", flat=True)) == {0}
