"""Real worker and beat processes on the database and the Redis of the tests."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from urllib.parse import quote

import pytest
import redis
from django.conf import settings
from django.db import connection

from tests.services import workers

Start = Callable[..., ForkServerProcess]
SHORT_LEASES = {"LLARS_LEASE_SECONDS": "2", "LLARS_HEARTBEAT_SECONDS": "0.5", "LLARS_RECOVERY_SECONDS": "0.5"}


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Wait until something is so; fail with its name when it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.02)


def database_url() -> str:
    """The address of the database that pytest created."""
    values = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{values['NAME']}"
    login = f"{quote(values['USER'])}:{quote(values['PASSWORD'])}" if values["PASSWORD"] else quote(values["USER"])
    return f"postgres://{login}@{quote(values['HOST'], safe='')}:{values['PORT']}/{values['NAME']}"


@pytest.fixture
def broker() -> Iterator[redis.Redis]:
    """The Redis of the tests, empty."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1)
    try:
        client.ping()
    except redis.RedisError:
        reason = os.environ.get("LLARS_TEST_NO_REDIS", "no Redis is reachable at LLARS_REDIS_URL")
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    client.flushall()
    yield client
    client.flushall()
    client.close()


@pytest.fixture
def start_process(transactional_db: None, broker: redis.Redis, tmp_path: Path) -> Iterator[Start]:
    """Start ``celery -A llars`` with arguments; what still runs at the end of the test is killed by its id."""
    started: list[ForkServerProcess] = []
    workers.prepare(
        {**SHORT_LEASES, "LLARS_DATABASE_URL": database_url(), "LLARS_LOCAL_LLM_HOSTS": "127.0.0.1"},
    )

    def start(name: str, *arguments: str) -> ForkServerProcess:
        # The name is that of its connections in PostgreSQL, too.
        process = workers.start(arguments, tmp_path / f"{name}.log", {"PGAPPNAME": name})
        started.append(process)
        return process

    yield start
    for process in started:
        if process.is_alive():
            workers.send(process, signal.SIGKILL)
        process.join(10)
        process.close()


@pytest.fixture
def start_worker(start_process: Start) -> Start:
    """Start one worker process with five lanes' worth of threads; its log is ``<name>.log`` in the test's directory."""

    def start(name: str = "worker", threads: int = 8) -> ForkServerProcess:
        return start_process(name, *workers.WORKER, "-c", str(threads))

    return start


@pytest.fixture
def beat(start_process: Start, tmp_path: Path) -> ForkServerProcess:
    """A running beat that recovers twice a second."""
    return start_process("beat", "beat", "-s", str(tmp_path / "schedule"), "-l", "WARNING")
