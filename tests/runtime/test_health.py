"""/health/live and /health/ready: what they answer, and that no server that hangs holds them up."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from llars import health, reach

ROOT = Path(__file__).resolve().parents[2]

ASK = """
import json, threading, time
import django; django.setup()
from django.test import Client
client = Client()
client.get("/health/live")  # imports
answers = []
for page in ("live", "ready", "ready"):
    begin = time.monotonic()
    answer = client.get(f"/health/{page}")
    answers.append([answer.status_code, answer.json(), time.monotonic() - begin])
waiting = sum(thread.name == "probe" for thread in threading.enumerate())
print(json.dumps([answers, waiting]))
"""


@contextmanager
def silent_server() -> Iterator[int]:
    """A server that accepts connections and then says nothing; its port."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield int(server.getsockname()[1])


def ask(**variables: str) -> tuple[list[list[Any]], int]:
    """What a process with these servers answers to live, ready and ready again, and how many threads wait then."""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "llars.settings"} | variables
    done = subprocess.run(
        [sys.executable, "-c", ASK], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    answers, waiting = json.loads(done.stdout.splitlines()[-1])
    return answers, waiting


@pytest.fixture
def answers_of(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let database and Redis answer as told."""

    def set_answers(database: str, redis: str) -> None:
        monkeypatch.setattr(reach, "database", reach.Probe(lambda: database))
        monkeypatch.setattr(reach, "broker", reach.Probe(lambda: redis))

    return set_answers


@pytest.mark.parametrize(
    ("database", "redis", "code", "status"),
    [
        (reach.OK, reach.OK, 200, "ready"),
        (reach.OK, reach.UNREACHABLE, 200, "degraded"),
        (reach.OK, reach.NO_ANSWER, 200, "degraded"),
        (reach.UNREACHABLE, reach.OK, 503, "unready"),
        (reach.PENDING, reach.OK, 503, "unready"),
    ],
)
def test_a_process_is_ready_with_its_database_and_degraded_without_redis(
    client: Client, answers_of: Any, database: str, redis: str, code: int, status: str
) -> None:
    answers_of(database, redis)
    answer = client.get("/health/ready")
    assert answer.status_code == code
    assert answer.json() == {"status": status, "checks": {"database": database, "redis": redis}}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_migrated_database_is_ready(client: Client) -> None:
    for _ in range(20):  # the first answer of a process compares the migrations, which may take its time
        if client.get("/health/ready").json()["checks"]["database"] == "ok":
            return
    pytest.fail("the migrated database was never ready")


@pytest.mark.processes
def test_servers_that_hang_are_named_within_two_seconds_and_held_by_one_thread_each() -> None:
    with silent_server() as database, silent_server() as redis:
        answers, waiting = ask(
            LLARS_DATABASE_URL=f"postgres://example@127.0.0.1:{database}/example",
            LLARS_REDIS_URL=f"redis://127.0.0.1:{redis}/0",
        )
    live, *ready = answers
    assert live[0] == 200
    assert live[2] < 5
    for code, body, seconds in ready:
        assert code == 503
        assert body["checks"]["database"] == "no answer"
        assert body["checks"]["redis"] in ("no answer", "unreachable")
        assert seconds < 6  # 1.5 of its own, and a busy machine; the database alone would be waited for without end
    assert health.SECONDS < 2
    assert waiting <= 2


@pytest.mark.processes
def test_a_database_without_its_migrations_is_not_ready(tmp_path: Path) -> None:
    answers, _waiting = ask(LLARS_DATABASE_URL=f"sqlite:///{tmp_path / 'new.sqlite3'}")
    assert answers[1][0] == 503
    assert answers[1][1]["checks"]["database"] == "migrations pending"


def test_a_database_that_is_gone_is_unreachable(unused_port: int) -> None:
    answers, _waiting = ask(LLARS_DATABASE_URL=f"postgres://example@127.0.0.1:{unused_port}/example")
    assert answers[1][0] == 503
    assert answers[1][1] == {"status": "unready", "checks": answers[1][1]["checks"] | {"database": "unreachable"}}


@pytest.fixture
def unused_port() -> int:
    with silent_server() as port:
        return port


def test_whoever_asks_while_an_answer_is_awaited_waits_for_the_same_one() -> None:
    release, asked = threading.Event(), []

    def slow() -> str:
        asked.append(1)
        release.wait(10)
        return reach.OK

    probe = reach.Probe(slow)
    first, second = probe.ask(), probe.ask()
    assert first.answer(0.01) == second.answer(0.01) == reach.NO_ANSWER
    release.set()
    assert first.answer(10) == second.answer(10) == reach.OK
    assert len(asked) == 1
