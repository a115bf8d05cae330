"""A small supervisor: named children, each in its own process group, with a log file and an end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

TETHER = Path(__file__).with_name("tether.py")
LOG_BYTES = 5_000_000
POLL_SECONDS = 0.05
MAX_RESTARTS = 5
RESTART_WINDOW_SECONDS = 60.0


class ProgramFailed(Exception):
    """A child did not get ready, died, or died too often. The text names it, says why and shows the end of its log."""


@dataclass(frozen=True)
class Program:
    """What to run. ``ready`` is asked until it says yes, ``after`` clears up once it is stopped for good; ``user`` is
    (uid, gid) to run as; times are in seconds."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] | None = None
    ready_seconds: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    death_signal: signal.Signals = signal.SIGKILL
    grace_seconds: float = 10.0
    restart: bool = False
    user: tuple[int, int] | None = None
    after: Callable[[], None] | None = None


@dataclass
class _Child:
    program: Program
    process: subprocess.Popen[bytes]
    log: Path
    watch: int | None
    starts: list[float]


class Supervisor:
    """Starts programs, restarts those that may be restarted, and stops all of them in reverse order.

    Race: Linux ties a child to the *thread* that started it, so one thread that lives as long as the supervisor (the
    main one) has to make every call. ``use_guard`` takes the portable pipe watch instead of the kernel's signal.
    """

    def __init__(self, log_dir: Path, cwd: Path, use_guard: bool = sys.platform != "linux") -> None:
        self._log_dir = log_dir
        self._cwd = cwd
        self._use_guard = use_guard
        self._children: dict[str, _Child] = {}
        self.hurry = False
        log_dir.mkdir(parents=True, exist_ok=True)

    def start(self, program: Program) -> None:
        """Start the program and wait until it is ready.

        Raises:
            ProgramFailed: it ended, or was not ready in time; ``stop`` clears it away.
        """
        self._children[program.name] = self._spawn(program, [])
        self._await_ready(self._children[program.name])

    def pids(self) -> dict[str, int]:
        """Name -> process id of every child that is alive."""
        return {name: child.process.pid for name, child in self._children.items() if child.process.poll() is None}

    def tend(self) -> list[str]:
        """Look after the children: return a line for each one restarted.

        Raises:
            ProgramFailed: a child died that must not, or one died more than 5 times in a minute.
        """
        lines = []
        for name, child in list(self._children.items()):
            code = child.process.poll()
            if code is None:
                continue
            recent = [at for at in child.starts if time.monotonic() - at < RESTART_WINDOW_SECONDS]
            if not child.program.restart or len(recent) > MAX_RESTARTS:
                raise ProgramFailed(self._report(child, f"ended unexpectedly ({_meaning(code)})"))
            self._bury(child)
            self._children[name] = self._spawn(child.program, recent)
            lines.append(f"{name} ended unexpectedly ({_meaning(code)}) and was started again")
        return lines

    def stop(self) -> None:
        """Stop all children, last started first: the polite signal, then SIGKILL after the grace (none in a hurry)."""
        for name in reversed(list(self._children)):
            child = self._children.pop(name)
            self._signal(child, child.program.stop_signal)
            self._wait(child, child.program.grace_seconds)
            self._bury(child)
            if child.program.after is not None:
                child.program.after()

    def _spawn(self, program: Program, starts: list[float]) -> _Child:
        path = self._log_dir / f"{program.name}.log"
        if path.exists() and path.stat().st_size > LOG_BYTES:
            path.replace(path.with_suffix(".log.1"))
        reading, writing = os.pipe() if self._use_guard else (None, None)
        command = [sys.executable, "-I", "-S", str(TETHER), "--parent", str(os.getpid())]
        command += ["--signal", str(int(program.death_signal))]
        command += ["--user", f"{program.user[0]}:{program.user[1]}"] if program.user else []
        command += ["--watch", str(reading)] if reading is not None else []
        with path.open("ab") as log:
            process = self._popen([*command, "--", *program.command], program, log, reading)
        if reading is not None:
            os.close(reading)
        return _Child(program, process, path, writing, [*starts, time.monotonic()])

    def _popen(self, command: list[str], program: Program, log: IO[bytes], fd: int | None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            command,
            cwd=self._cwd,
            env={**os.environ, **program.environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=() if fd is None else (fd,),
        )

    def _await_ready(self, child: _Child) -> None:
        ready = child.program.ready
        deadline = time.monotonic() + child.program.ready_seconds
        while ready is not None:
            code = child.process.poll()
            if code is not None:
                raise ProgramFailed(self._report(child, f"ended before it was ready ({_meaning(code)})"))
            if ready():
                return
            if time.monotonic() > deadline:
                raise ProgramFailed(self._report(child, f"was not ready after {child.program.ready_seconds:.0f} s"))
            time.sleep(POLL_SECONDS)

    def _wait(self, child: _Child, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while child.process.poll() is None and time.monotonic() < deadline and not self.hurry:
            time.sleep(POLL_SECONDS)

    def _bury(self, child: _Child) -> None:
        """End what is left of the child's group, itself included, and take its exit code."""
        self._signal(child, signal.SIGKILL)
        child.process.wait()
        if child.watch is not None:
            os.close(child.watch)

    @staticmethod
    def _signal(child: _Child, number: signal.Signals) -> None:
        # The group may be empty by now; macOS answers EPERM for a group of zombies.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.process.pid, number)

    def _report(self, child: _Child, what: str) -> str:
        lines = child.log.read_text(errors="replace").splitlines()[-15:]
        tail = "".join(f"\n  {child.program.name} | {line}" for line in lines)
        return f"{child.program.name} {what}. Its log is {child.log}{tail}"


def _meaning(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
