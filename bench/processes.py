"""Child processes of the benchmarks, and what they cost."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

Child = subprocess.Popen[bytes]


@contextmanager
def process(*command: str) -> Iterator[Child]:
    """A Python process for the time of the block."""
    child = subprocess.Popen([sys.executable, *command])
    try:
        yield child
    finally:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(20)
        child.kill()
        child.wait()


def wait_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Poll a condition ten times a second, seldom enough to disturb nobody. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.1)


def cpu_seconds(children: Iterable[Child]) -> float:
    """User and system time of processes so far, all threads together (Linux)."""
    ticks = 0
    for child in children:
        with open(f"/proc/{child.pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
