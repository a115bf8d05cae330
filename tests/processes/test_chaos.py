"""Small chaos runs (``make chaos`` is the large one), each on a database and a Redis of its own that may crash."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from llars.embedded import redis
from tests.processes.outcome import IS_SQLITE, needs_postgres
from tests.services import postgres

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.queue, pytest.mark.processes]


@pytest.fixture
def chaos(tmp_path: Path) -> Iterator[Run]:
    """Run ``python -m tests.chaos`` and return its figures; fail with its table if a promise was broken."""
    try:
        redis.find_binary()
        if not IS_SQLITE:
            postgres.find_binaries()
    except (redis.RedisNotFound, postgres.PostgresNotFound) as missing:
        pytest.skip(str(missing))
    running: list[subprocess.Popen[str]] = []

    def run(**options: object) -> dict[str, Any]:
        report = tmp_path / "report.json"
        options |= {"report": report, "database": "sqlite" if IS_SQLITE else "postgres"}
        command = [sys.executable, "-m", "tests.chaos"]
        command += [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        running.append(process)
        output, _ = process.communicate(timeout=300)
        assert process.returncode == 0, output
        figures: dict[str, Any] = json.loads(report.read_text())["figures"]
        return figures

    yield run
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)  # it ends its servers and workers before itself
            process.wait(60)


def test_sixty_comparisons_survive_kills_a_freeze_a_database_crash_and_a_dead_redis(chaos: Run) -> None:
    figures = chaos(comparisons=60, kills=5, freezes=1, crashes=0 if IS_SQLITE else 1, flushes=1, latency_ms=400)
    assert figures["calls accepted"] == 60
    # Each fault can lose the calls of the lanes that it hits, and no more.
    assert figures["calls repeated"] <= 5 * 7


@needs_postgres
def test_workers_come_back_by_themselves_after_their_servers_crashed(chaos: Run) -> None:
    figures = chaos(comparisons=60, kills=0, freezes=0, crashes=2, flushes=0, latency_ms=200, workers=2)
    assert figures["processes that ended by themselves"] == 0
    assert figures["longest standstill in seconds"] < 30
    # Answers wait for their database: a crash costs a call at most where it hit the moment before one.
    assert figures["calls repeated"] <= 5 * 2


@needs_postgres  # on SQLite the run above empties it as well
def test_a_redis_that_forgets_everything_costs_no_call(chaos: Run) -> None:
    figures = chaos(comparisons=60, kills=0, freezes=0, crashes=0, flushes=3, latency_ms=600, workers=2)
    assert figures["calls repeated"] == 0
    assert figures["longest standstill in seconds"] < 30
