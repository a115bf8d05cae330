"""A bare asynchronous httpx2 client: it sends the prompts and reads the streams to their end, and nothing else."""

import asyncio
import time
from typing import Any

import httpx2


def stream_all(base_url: str, bodies: list[dict[str, Any]], lanes: int) -> float:
    """Seconds for ``lanes`` tasks to stream all answers."""
    return asyncio.run(_stream_all(base_url, bodies, lanes))


async def _stream_all(base_url: str, bodies: list[dict[str, Any]], lanes: int) -> float:
    waiting = iter(bodies)

    async def lane(client: httpx2.AsyncClient) -> None:
        for body in waiting:
            async with client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
                response.raise_for_status()
                async for _ in response.aiter_bytes():
                    pass

    async with httpx2.AsyncClient(timeout=60, trust_env=False) as client:
        began = time.perf_counter()
        await asyncio.gather(*(lane(client) for _ in range(lanes)))
        return time.perf_counter() - began
