"""A Redis that accepts connections and then says nothing (frozen, swapping) must not hold anybody up for long."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.processes


@pytest.fixture
def hung_redis(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of a process whose Redis never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield os.environ | {
            "DJANGO_SETTINGS_MODULE": "llars.settings",
            "LLARS_REDIS_URL": f"redis://127.0.0.1:{server.getsockname()[1]}/0",
            "LLARS_DATABASE_URL": f"sqlite:///{tmp_path / 'unused.sqlite3'}",
        }


CALLS = """
import json, time, django
django.setup()
from judge import events
from judge.events.silence import Silence
from judge.services.wakeups import wake_lane

def wake():
    [wake_lane(1, worker) for worker in range(5)]

def read():
    [events.partial_answer(lane, "token") for lane in range(5)]

def click():
    wake()
    [events.publish(events.SessionComplete(session_id=1, status="aborted")) for _ in range(3)]

taken = {}
for call in (wake, read, click):
    Silence.until = 0.0
    begin = time.monotonic()
    call()
    taken[call.__name__] = time.monotonic() - begin
print(json.dumps(taken))
"""


def test_nobody_waits_for_a_redis_that_says_nothing(hung_redis: dict[str, str]) -> None:
    """Waking five lanes; reading the answers of five; a click that wakes them and tells watchers."""
    command = [sys.executable, "-c", CALLS]
    done = subprocess.run(command, cwd=ROOT, env=hung_redis, capture_output=True, text=True, timeout=120, check=True)
    taken = json.loads(done.stdout.splitlines()[-1])
    assert taken["wake"] < 2, taken
    assert taken["read"] < 3, taken
    assert taken["click"] < 2, taken
