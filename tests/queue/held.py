"""Answers that are held back until a test lets them go: what is to happen meanwhile has all the time it needs."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from judge.simulated.server import SimulatedServer

LOOK_SECONDS = 0.005


@contextmanager
def held(server: SimulatedServer, after: int = 0) -> Iterator[Callable[[], None]]:
    """Let the server take every call and answer none that comes after the first ``after``, until released.

    The block gets the function that releases them; its end does so too. Calls that arrive at the same moment may all
    count as the last one that is answered: leave room for as many as there are lanes.
    """
    judge, is_released = server.judge, threading.Event()
    answer = judge._answer

    async def late(scope: Any, receive: Any, send: Any) -> None:
        is_held = judge.calls >= after

        async def send_late(message: Any) -> None:
            while is_held and not is_released.is_set():  # noqa: ASYNC110  released by another thread
                await asyncio.sleep(LOOK_SECONDS)
            await send(message)

        await answer(scope, receive, send_late)

    judge._answer = late  # type: ignore[method-assign]
    try:
        yield is_released.set
    finally:
        is_released.set()
        del judge._answer  # the class's own again
