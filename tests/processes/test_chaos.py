"""Small chaos runs (``make chaos`` is the large one) on a database and a Redis of their own, which may crash."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llars.embedded import redis
from tests.chaos.options import NEXT
from tests.processes.outcome import IS_SQLITE, needs_postgres
from tests.services import postgres

ROOT = Path(__file__).resolve().parents[2]
Figures = dict[str, dict[str, Any]]
pytestmark = [pytest.mark.queue, pytest.mark.processes]

NO_FAULTS = {"comparisons": 60, "kills": 0, "freezes": 0, "crashes": 0, "flushes": 0}
EVERYTHING = {**NO_FAULTS, "kills": 5, "freezes": 1, "crashes": 0 if IS_SQLITE else 1, "flushes": 1, "latency_ms": 400}
RUNS = {"everything": EVERYTHING}
if not IS_SQLITE:  # there the run above empties Redis as well
    RUNS["crashes"] = {**NO_FAULTS, "crashes": 2, "latency_ms": 200, "workers": 2}
    RUNS["flushes"] = {**NO_FAULTS, "flushes": 3, "latency_ms": 400, "workers": 2}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Figures]:
    """Do all runs with one ``python -m tests.chaos``; fail with its tables if a promise was broken."""
    try:
        redis.find_binary()
        if not IS_SQLITE:
            postgres.find_binaries()
    except (redis.RedisNotFound, postgres.PostgresNotFound) as missing:
        pytest.skip(str(missing))
    reports = tmp_path_factory.mktemp("chaos")
    command = [sys.executable, "-m", "tests.chaos", *arguments(reports)]
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        output, _ = process.communicate(timeout=600)
        assert process.returncode == 0, output
        yield {name: json.loads((reports / name).read_text())["figures"] for name in RUNS}
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)  # it ends its servers and workers before itself
            process.wait(60)


def arguments(reports: Path) -> list[str]:
    """The command line of all runs."""
    words: list[str] = []
    for name, options in RUNS.items():
        options = {**options, "report": reports / name, "database": "sqlite" if IS_SQLITE else "postgres"}
        words += [NEXT] if words else []
        words += [f"--{option.replace('_', '-')}={value}" for option, value in options.items()]
    return words


def test_sixty_comparisons_survive_kills_a_freeze_a_database_crash_and_a_dead_redis(figures: Figures) -> None:
    found = figures["everything"]
    assert found["calls accepted"] == 60
    # Each fault can lose the calls of the lanes that it hits, and no more.
    assert found["calls repeated"] <= 5 * 7


@needs_postgres
def test_workers_come_back_by_themselves_after_their_servers_crashed(figures: Figures) -> None:
    found = figures["crashes"]
    assert found["processes that ended by themselves"] == 0
    assert found["longest standstill in seconds"] < 30
    # Answers wait for their database: a crash costs a call at most where it hit the moment before one.
    assert found["calls repeated"] <= 5 * 2


@needs_postgres
def test_a_redis_that_forgets_everything_costs_no_call(figures: Figures) -> None:
    found = figures["flushes"]
    assert found["calls repeated"] == 0
    assert found["longest standstill in seconds"] < 30
