"""Bare loops in processes of their own, so that their processor time can be told from everybody else's."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """What a loop took: seconds on the clock, and processor seconds of its process, all threads together."""

    wall: float
    cpu: float


def run(module: str, **task: Any) -> Cost:
    """Run a loop's module with its task. Raises CalledProcessError when it fails."""
    command = [sys.executable, "-m", module]
    answer = subprocess.run(command, input=json.dumps(task), stdout=subprocess.PIPE, text=True, check=True)
    return Cost(**json.loads(answer.stdout))


def task() -> dict[str, Any]:
    """In the loop's process: what it was asked to do."""
    return dict(json.load(sys.stdin))


def in_threads(count: int, lane: Callable[[], None]) -> None:
    """In the loop's process: run ``lane`` in threads and report what that cost, without the interpreter's start."""
    threads = [threading.Thread(target=lane) for _ in range(count)]
    wall, cpu = time.perf_counter(), time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}))
