"""Processes that tests left behind: on Linux they come to the launcher, which ends them."""

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
ROUNDS = 50


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent ends. Does nothing outside Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children_of(pid: int) -> set[int]:
    """Process ids of a process's children, adopted ones included; none outside Linux."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            found |= {int(pid) for pid in task.read_text().split()}
    return found


def collect(pid: int) -> bool:
    """Take the exit code of a child that has ended; False if it still runs."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def end_orphans(spare: set[int]) -> int:
    """Kill all children but the spared ones, generation by generation; return how many there were.

    Race: killing one makes its own children ours, so it is repeated until none is left.
    """
    ended: set[int] = set()
    for _ in range(ROUNDS):
        left = children_of(os.getpid()) - spare
        if not left:
            break
        for pid in left:
            if not collect(pid):
                ended.add(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    return len(ended)
