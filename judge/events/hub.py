"""Receiving events in a web process: one Redis subscription per process and channel, fanned out locally."""

import asyncio
import contextlib
import json
import logging
import random
from collections import deque
from typing import Any
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

QUEUE_LENGTH = 256
GAP: dict[str, Any] = {"type": "gap"}


class Subscription:
    """One watcher's own bounded queue. When it overflows, everything in it is dropped and a gap is reported:
    a slow reader reads the snapshot and disturbs nobody else."""

    def __init__(self, channel: str) -> None:
        self.channel = channel
        self._events: deque[dict[str, Any]] = deque()
        self._ready = asyncio.Event()

    def put(self, event: dict[str, Any]) -> None:
        """Add an event without waiting."""
        if len(self._events) >= QUEUE_LENGTH:
            self._events.clear()
            event = GAP
        self._events.append(event)
        self._ready.set()

    async def get(self) -> list[dict[str, Any]]:
        """Wait for events and take all that are there."""
        await self._ready.wait()
        taken = list(self._events)
        self._events.clear()
        self._ready.clear()
        return taken


class Hub:
    """All subscriptions of one process (one event loop)."""

    def __init__(self) -> None:
        self._watchers: dict[str, set[Subscription]] = {}
        self._client = redis.asyncio.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=2, retry=None)
        self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)
        self._lock = asyncio.Lock()
        self._reader: asyncio.Task[None] | None = None

    async def subscribe(self, channel: str) -> Subscription:
        """Start watching a channel. What was published before is not replayed: read the snapshot after this call."""
        subscription = Subscription(channel)
        async with self._lock:
            first = channel not in self._watchers
            self._watchers.setdefault(channel, set()).add(subscription)
            if first:
                await self._ask("subscribe", channel)
            if self._reader is None or self._reader.done():
                self._reader = asyncio.create_task(self._read())
        return subscription

    async def unsubscribe(self, subscription: Subscription) -> None:
        """Stop watching; the last watcher of a channel ends its Redis subscription, the last of all the connection."""
        async with self._lock:
            watchers = self._watchers.get(subscription.channel, set())
            watchers.discard(subscription)
            if watchers:
                return
            self._watchers.pop(subscription.channel, None)
            if self._watchers:
                await self._ask("unsubscribe", subscription.channel)
            else:
                await self._stop_reading()

    async def _stop_reading(self) -> None:
        """End reader and connection. A cancellation may get lost inside the Redis client: ask until it is gone."""
        reader, self._reader = self._reader, None
        while reader is not None and not reader.done():
            reader.cancel()
            await asyncio.wait({reader}, timeout=0.1)
        with contextlib.suppress(RedisError, OSError):
            await self._pubsub.aclose()
        self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)

    async def _ask(self, verb: str, channel: str) -> None:
        # Redis away: the reader subscribes to everything again as soon as it is back.
        with contextlib.suppress(RedisError, OSError):
            await getattr(self._pubsub, verb)(channel)

    async def _read(self) -> None:
        delay = 0.2
        while True:
            try:
                if not self._pubsub.subscribed:
                    await self._pubsub.subscribe(*self._watchers)
                message = await self._pubsub.get_message(timeout=30)
                delay = 0.2
            except (RedisError, OSError) as error:
                logger.warning("hub_disconnected error=%s", type(error).__name__)
                await self._reconnect(delay * (0.5 + random.random()))  # noqa: S311  jitter, not a secret
                delay = min(5.0, delay * 2)
                continue
            if message is not None:
                self._deliver(message["channel"].decode(), json.loads(message["data"]))

    def _deliver(self, channel: str, event: dict[str, Any]) -> None:
        for subscription in self._watchers.get(channel, ()):
            subscription.put(event)

    async def _reconnect(self, delay: float) -> None:
        """Subscribe anew and report a gap to everybody: what was published meanwhile is lost."""
        await asyncio.sleep(delay)
        with contextlib.suppress(RedisError, OSError):
            await self._pubsub.aclose()
            self._pubsub = self._client.pubsub(ignore_subscribe_messages=True)
            await self._pubsub.subscribe(*self._watchers)
            for channel in self._watchers:
                self._deliver(channel, GAP)


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub()
    return _hubs[loop]
