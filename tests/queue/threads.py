"""Threads of the queue's tests: each with a database connection of its own, none left behind, no error unseen."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connections

PATIENCE = 60.0


def _closing(work: Callable[[], Any]) -> Any:
    try:
        return work()
    finally:
        connections.close_all()


def together(*works: Callable[[], Any]) -> list[Any]:
    """Begin all works at the same moment; return their results in order. The first error is raised here."""
    barrier = threading.Barrier(len(works))

    def begin(work: Callable[[], Any]) -> Any:
        barrier.wait(PATIENCE)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        futures = [pool.submit(_closing, lambda work=work: begin(work)) for work in works]  # type: ignore[misc]
    return [future.result() for future in futures]


@contextmanager
def beside(work: Callable[[], Any], then: Callable[[], object] = lambda: None) -> "Iterator[Future[Any]]":
    """Run one work in a thread beside the block and wait for it at the end; its error is raised there.

    ``then`` is called when the block ends, however it ends, for work that waits for something until then.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(_closing, work)
        try:
            yield future
        finally:
            then()
        future.result(PATIENCE)


def until(condition: Callable[[], object], what: str, seconds: float = 20.0) -> None:
    """Wait until something is so; fail with its name when it does not come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s for {what}"
        time.sleep(0.01)
