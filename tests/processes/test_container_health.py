"""What compose asks of worker and beat, put to real processes: a frozen one is not healthy."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import redis

from llars import container_health, reach
from tests.processes.conftest import wait_for
from tests.processes.started import CELERY, ROOT, StartProgram, environment, start_program

__all__ = ["start_program"]

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_a_worker_is_healthy_while_it_answers_and_reaches_its_servers(
    start_program: StartProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = start_program("worker", *CELERY, "worker", "-c", "2", "-n", "judge@%h", "--without-gossip")
    wait_for(container_health.worker, 60, "a healthy worker")
    command = [sys.executable, "-m", "llars.container_health", "worker"]
    assert subprocess.run(command, cwd=ROOT, env=environment(), timeout=60, check=False).returncode == 0
    monkeypatch.setattr(container_health, "PING_SECONDS", 2)
    worker.send_signal(signal.SIGSTOP)
    assert not container_health.worker()
    worker.send_signal(signal.SIGCONT)
    wait_for(container_health.worker, 60, "the worker to be healthy again")
    for server in ("database", "broker"):
        with monkeypatch.context() as broken:
            broken.setattr(reach, server, reach.Probe(lambda: reach.UNREACHABLE))
            assert not container_health.worker()


def test_beat_leaves_a_mark_with_each_recovery_it_sends(
    start_program: StartProgram, broker: redis.Redis, tmp_path: Path
) -> None:
    schedule = tmp_path / "schedule"
    start_program("beat", *CELERY, "beat", "--schedule", str(schedule), "--pidfile=")
    mark = container_health.beat_mark(schedule)
    wait_for(mark.exists, 60, "the first recovery")
    assert container_health.beat(schedule)
    first = mark.stat().st_mtime
    wait_for(lambda: mark.stat().st_mtime > first, 20, "the next recovery")
    assert broker.llen("celery") >= 2
