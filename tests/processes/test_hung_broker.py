"""A Redis that accepts connections and then says nothing (frozen, swapping) must not hold anybody up for long."""

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


def seconds_of(call: str, environment: dict[str, str]) -> float:
    """How long the call takes in a process of its own, without its imports."""
    code = f"import time, django; django.setup()\n{call.partition(';')[0]}\nbegin = time.monotonic()\n"
    code += f"{call.partition(';')[2]}\nprint(time.monotonic() - begin)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return float(done.stdout.split()[-1])


def test_waking_five_lanes_takes_less_than_two_seconds(hung_redis: dict[str, str]) -> None:
    call = "from judge.services.wakeups import wake_lane;[wake_lane(1, worker) for worker in range(5)]"
    assert seconds_of(call, hung_redis) < 2


def test_reading_the_answers_of_five_lanes_takes_less_than_three_seconds(hung_redis: dict[str, str]) -> None:
    call = "from judge.events import partial_answer;[partial_answer(lane, 'token') for lane in range(5)]"
    assert seconds_of(call, hung_redis) < 3


def test_a_click_that_wakes_lanes_and_tells_watchers_takes_less_than_two_seconds(hung_redis: dict[str, str]) -> None:
    call = (
        "from judge import events; from judge.services.wakeups import wake_lane"
        ";[wake_lane(1, worker) for worker in range(5)]; "
        "[events.publish(events.SessionComplete(session_id=1, status='aborted')) for _ in range(3)]"
    )
    assert seconds_of(call.replace("; from", "\nfrom", 1), hung_redis) < 2
