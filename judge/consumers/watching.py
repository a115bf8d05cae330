"""Following one channel for one socket: forward what comes, and send the snapshot where something is missing."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Any

from channels.db import database_sync_to_async

from judge.consumers.encoding import encode, encode_event
from judge.consumers.lanes import LaneBoard
from judge.consumers.snapshots import overview_snapshot, session_snapshot
from judge.events.hub import Subscription
from judge.models import JudgeSession
from judge.selectors.access import Person

# Lanes change up to a hundred times a second; nobody reads their status more often than this.
STATUS_EVERY_SECONDS = 0.2

Send = Callable[[str], Awaitable[None]]


class Gone(Exception):
    """The session is not there any more, or not this person's to see."""


class Watch(ABC):
    """One subscription. ``follow`` runs until it is cancelled; ``send`` waits while the reader is slow, and meanwhile
    the subscription's own queue overflows and turns into a gap: nobody else waits."""

    def __init__(self, subscription: Subscription, send: Send) -> None:
        self.subscription = subscription
        self._send = send

    @abstractmethod
    async def snapshot(self) -> None:
        """Send judge:status."""

    @abstractmethod
    async def follow(self) -> None:
        """Forward events."""


class SessionWatch(Watch):
    """All events of one session, with judge:workers_status whenever the lanes changed."""

    def __init__(self, subscription: Subscription, send: Send, user: Person, session_id: int) -> None:
        super().__init__(subscription, send)
        self._user, self._session_id = user, session_id
        self._seq: int | None = None
        self._board: LaneBoard | None = None
        self._status_due = 0.0

    async def snapshot(self) -> None:
        """judge:status and judge:workers_status as the database has them. Raises Gone."""
        status, self._board = await self._read()
        await self._send(encode(status))
        await self._send_workers()

    async def follow(self) -> None:
        """Forward the events of the session in order."""
        while True:
            batch = await self._next()
            if self._has_gap(batch):
                # The snapshot is newer than all of them.
                await self.snapshot()
                continue
            for event in batch:
                await self._send(encode_event(event))
                if self._board is not None:
                    self._board.apply(event)
            if self._is_status_wanted() and asyncio.get_running_loop().time() >= self._status_due:
                await self._refresh_workers()

    def _is_status_wanted(self) -> bool:
        return self._board is not None and (self._board.changed or self._board.stale)

    async def _next(self) -> list[dict[str, Any]]:
        """The next events; nothing when a status is due before one comes."""
        if not self._is_status_wanted():
            return await self.subscription.get()
        try:
            async with asyncio.timeout_at(self._status_due):
                return await self.subscription.get()
        except TimeoutError:
            return []

    def _has_gap(self, batch: list[dict[str, Any]]) -> bool:
        """Whether an event is missing: the queue overflowed, Redis was away, or a number was skipped or began anew."""
        is_gap = False
        for event in batch:
            seq = event.get("seq")
            is_gap = is_gap or seq is None or (self._seq is not None and seq != self._seq + 1)
            self._seq = seq
        return is_gap

    async def _refresh_workers(self) -> None:
        if self._board is not None and self._board.stale:
            _, self._board = await self._read()
        await self._send_workers()

    async def _send_workers(self) -> None:
        if self._board is not None:
            await self._send(encode(self._board.message()))
            self._status_due = asyncio.get_running_loop().time() + STATUS_EVERY_SECONDS

    @database_sync_to_async
    def _read(self) -> tuple[dict[str, Any], LaneBoard]:
        session = JudgeSession.objects.visible_to(self._user).filter(pk=self._session_id).first()
        if session is None:
            raise Gone
        return session_snapshot(session), LaneBoard(session)


class OverviewWatch(Watch):
    """Events of all sessions that the person may read."""

    def __init__(self, subscription: Subscription, send: Send, user: Person) -> None:
        super().__init__(subscription, send)
        self._user = user
        self._visible: dict[int, bool] = {}

    def forget(self) -> None:
        """Ask anew which sessions are visible."""
        self._visible = {}

    async def snapshot(self) -> None:
        """judge:status of the newest sessions."""
        await self._send(encode(await database_sync_to_async(overview_snapshot)(self._user)))

    async def follow(self) -> None:
        """Forward the events of visible sessions."""
        while True:
            batch = await self.subscription.get()
            if any("session_id" not in event for event in batch):
                await self.snapshot()
                continue
            for event in batch:
                if await self._is_visible(event["session_id"]):
                    await self._send(encode_event(event))

    async def _is_visible(self, session_id: int) -> bool:
        known = self._visible.get(session_id)
        if known is None:
            known = await database_sync_to_async(self._ask)(session_id)
            self._visible[session_id] = known
        return known

    def _ask(self, session_id: int) -> bool:
        return JudgeSession.objects.visible_to(self._user).filter(pk=session_id).exists()
