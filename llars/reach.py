"""Whether the servers behind this process answer, found out within a time that the caller chooses.

A server that hangs, unlike one that is gone, answers no connection and no statement, and no time-out of its client
library covers every way to wait for it. So each question is asked in a thread of its own, and whoever does not hear in
time goes on without the answer. Of each question one thread at most waits: while it does, the answer is "no answer".
"""

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Final

import redis
from django.conf import settings
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor

OK: Final = "ok"
UNREACHABLE: Final = "unreachable"
NO_ANSWER: Final = "no answer"
PENDING: Final = "migrations pending"


class Asked:
    """A question that was put in a thread of its own."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._word = NO_ANSWER
        self._thread = threading.Thread(target=self._run, name="probe", daemon=True)
        self._thread.start()

    @property
    def is_open(self) -> bool:
        """Whether the answer is still waited for."""
        return self._thread.is_alive()

    def answer(self, seconds: float) -> str:
        """The answer, or NO_ANSWER when it does not come within ``seconds``."""
        self._thread.join(max(0.0, seconds))
        return self._word

    def _run(self) -> None:
        self._word = self._ask()


class Probe:
    """A question that may be asked again and again, by one thread at a time."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._lock = threading.Lock()
        self._last: Asked | None = None

    def ask(self) -> Asked:
        """Put the question; whoever asks while an answer is waited for waits for the same one."""
        with self._lock:
            if self._last is None or not self._last.is_open:
                self._last = Asked(self._ask)
            return self._last


class _Migrations:
    """Remembers that the database is as new as this code: it does not become older again."""

    are_applied = False


def ask_database() -> str:
    """One statement, and once per process whether all migrations were applied."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        if not _Migrations.are_applied:
            executor = MigrationExecutor(connection)
            _Migrations.are_applied = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        return OK if _Migrations.are_applied else PENDING
    except Error:
        return UNREACHABLE
    finally:
        connection.close()  # of this thread alone


def ask_redis() -> str:
    """One ping."""
    try:
        _redis().ping()
    except (redis.RedisError, OSError):
        return UNREACHABLE
    return OK


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1, max_connections=2, retry=None
    )


database = Probe(ask_database)
broker = Probe(ask_redis)


def servers(seconds: float) -> dict[str, str]:
    """What database and Redis answer, each in a word, within so many seconds for both."""
    until = time.monotonic() + seconds
    asked = {"database": database.ask(), "redis": broker.ask()}
    return {name: one.answer(until - time.monotonic()) for name, one in asked.items()}


def redis_answers(seconds: float = 0.5) -> bool:
    """Whether Redis answers within so many seconds."""
    return broker.ask().answer(seconds) == OK
