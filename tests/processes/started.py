"""Processes started as an operator starts them, from their command lines, so that their own settings hold."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

import pytest
import redis

from tests.processes.conftest import SHORT_LEASES, database_url

ROOT = Path(__file__).resolve().parents[2]
CELERY = (sys.executable, "-m", "celery", "-A", "llars")
Process = subprocess.Popen[bytes]


class StartProgram(Protocol):
    """Starts a program; its output goes to ``<name>.log`` in the test's directory."""

    def __call__(self, name: str, *command: str, **changes: str) -> Process: ...


def environment(changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a process on the tests' database and Redis."""
    own = {"DJANGO_SETTINGS_MODULE": "llars.settings", "LLARS_DATABASE_URL": database_url(), **SHORT_LEASES}
    return {**os.environ, **own, **(changes or {})}


@pytest.fixture
def start_program(transactional_db: None, broker: redis.Redis, tmp_path: Path) -> Iterator[StartProgram]:
    """Start programs; what still runs at the end of the test is killed by its id."""
    started: list[Process] = []

    def start(name: str, *command: str, **changes: str) -> Process:
        with (tmp_path / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment(changes), stdout=log, stderr=subprocess.STDOUT
            )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait(10)
