"""The servers of a chaos run: a database that survives its crashes, and a Redis that remembers nothing."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis as redis_client

from llars.embedded import redis
from llars.embedded.processes import Program, ProgramFailed, Supervisor
from tests.services import postgres, reaper

STARTS = 5


@dataclass
class Servers:
    """Started by `start_servers`; everything here is called from the thread that started them."""

    supervisor: Supervisor
    database: Program | None
    broker: Program
    database_url: str
    redis_url: str

    def crash_database(self, with_children: bool, down_seconds: float) -> None:
        """Let the database crash and start it again on what it had written."""
        assert self.database is not None
        children = reaper.children_of(self._pid(self.database))
        postgres.crash(self._pid(self.database), with_children)
        self._await_end(self.database)
        for pid in children:  # those of a killed server are this process's own by now
            reaper.collect(pid)
        time.sleep(down_seconds)
        self._start_again(self.database)

    def kill_redis(self, down_seconds: float) -> None:
        """Kill the Redis server and start it again, empty."""
        os.kill(self._pid(self.broker), signal.SIGKILL)
        self._await_end(self.broker)
        time.sleep(down_seconds)
        self._start_again(self.broker)

    def flush_redis(self) -> None:
        """Take every message and every key away."""
        with redis_client.Redis.from_url(self.redis_url) as client:
            client.flushall()

    def _pid(self, program: Program) -> int:
        return self.supervisor.pids()[program.name]

    def _await_end(self, program: Program) -> None:
        while program.name in self.supervisor.pids():
            time.sleep(0.01)

    def _start_again(self, program: Program) -> None:
        # Race: a process of the crashed server that has not quite ended holds its shared memory.
        for _ in range(STARTS):
            with suppress(ProgramFailed):
                self.supervisor.start(program)
                return
            time.sleep(0.5)
        self.supervisor.start(program)


def start_servers(supervisor: Supervisor, scratch: Path, database: str) -> Servers:
    """Start what the run needs in the scratch directory. Raises what a missing program raises."""
    broker, redis_url = redis.private_server(redis.find_binary(), scratch / "redis")
    supervisor.start(broker)
    if database == "sqlite":
        return Servers(supervisor, None, broker, f"sqlite:///{scratch / 'chaos.sqlite3'}", redis_url)
    # Beside the scratch directory's other content, which its unprivileged user has no business in.
    scratch.chmod(0o711)
    directory = scratch / "postgres"
    directory.mkdir(mode=0o700)
    program, database_url = postgres.throw_away(directory, survives_crashes=True)
    supervisor.start(program)
    return Servers(supervisor, program, broker, database_url, redis_url)
