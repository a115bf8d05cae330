"""The worker processes of a chaos run, and beat: started, killed, frozen, replaced."""

import os
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from django.db import connection

from tests.services import workers

THREADS = 8
LOG_LINES = 40


@dataclass
class Crew:
    """Workers by name. The name of a PostgreSQL connection (PGAPPNAME) says whose it is."""

    scratch: Path
    members: dict[str, ForkServerProcess] = field(default_factory=dict)
    frozen_until: dict[str, float] = field(default_factory=dict)
    started: int = 0

    def add_worker(self) -> None:
        """Start one more worker process."""
        self.started += 1
        self._start(f"worker-{self.started}", (*workers.WORKER, "-c", str(THREADS)))

    def add_beat(self) -> None:
        """Start beat; a run has one, from its beginning to its end."""
        self._start("beat", ("beat", "-s", str(self.scratch / "schedule"), "-l", "WARNING"))

    def kill(self, name: str) -> None:
        """SIGKILL a worker and replace it at once."""
        workers.send(self.members[name], signal.SIGKILL)
        self.members.pop(name).join(30)
        self.add_worker()

    def freeze(self, name: str, seconds: float) -> None:
        """SIGSTOP a worker; `thaw` wakes it when its time is over."""
        workers.send(self.members[name], signal.SIGSTOP)
        self.frozen_until[name] = time.monotonic() + seconds

    def thaw(self, everyone: bool = False) -> None:
        """SIGCONT the workers that were frozen long enough, or all."""
        for name, until in list(self.frozen_until.items()):
            if everyone or time.monotonic() >= until:
                workers.send(self.members[name], signal.SIGCONT)
                del self.frozen_until[name]

    def working(self) -> list[str]:
        """Workers that have taken work up since they were started, and are not frozen."""
        known = _connected_to_postgres() if connection.vendor == "postgresql" else self._with_open_file()
        return sorted(name for name in self.members if name in known and name not in self.frozen_until)

    def replace_ended(self) -> list[str]:
        """Replace the members that nobody killed and that are gone all the same; returns how each ended."""
        ended = [(name, process.exitcode) for name, process in self.members.items() if process.exitcode is not None]
        for name, _ in ended:
            self.members.pop(name)
            self.frozen_until.pop(name, None)
            if name == "beat":
                self.add_beat()
            else:
                self.add_worker()
        return [f"{name} ended with {code}\n{self._end_of_log(name)}" for name, code in ended]

    def stop(self) -> None:
        """Ask all to end, and kill those that do not."""
        self.thaw(everyone=True)
        for process in self.members.values():
            process.terminate()
        for process in self.members.values():
            process.join(15)
            process.kill()
            process.join()
        self.members.clear()

    def _start(self, name: str, arguments: tuple[str, ...]) -> None:
        self.members[name] = workers.start(arguments, self.scratch / f"{name}.log", {"PGAPPNAME": name})

    def _end_of_log(self, name: str) -> str:
        return "\n".join((self.scratch / f"{name}.log").read_text(errors="replace").splitlines()[-LOG_LINES:])

    def _with_open_file(self) -> set[str]:
        file = str(connection.settings_dict["NAME"])
        return {name for name, process in self.members.items() if file in _open_files(process.pid)}


def _connected_to_postgres() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT DISTINCT application_name FROM pg_stat_activity")
        return {name for (name,) in cursor.fetchall()}


def _open_files(pid: int | None) -> set[str]:
    """Paths of the files that a process has open (Linux)."""
    found = set()
    try:
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            found.add(os.readlink(entry))
    except OSError:
        pass
    return found
