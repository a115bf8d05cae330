"""The sockets of the pages: parts of HTML that htmx swaps in by their ids."""

import asyncio
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from django.utils import translation

from judge import partials
from judge.consumers.base import FORBIDDEN, GuardedConsumer
from judge.consumers.drawing import SessionDrawing, page_language, session_drawing
from judge.consumers.pages import PageState
from judge.events.hub import Subscription, hub
from judge.events.publisher import OVERVIEW_CHANNEL, SESSION_CHANNEL
from judge.models import JudgeSession
from judge.selectors import access

OVERVIEW_PAUSE = 1.0


class PageConsumer(GuardedConsumer):
    """A page watches one channel and has nothing to say: whatever it sends is ignored."""

    _subscription: Subscription | None = None

    async def watch(self, channel: str) -> Subscription:
        """Subscribe; read the snapshot after this, so that nothing falls between the two."""
        self._subscription = await hub().subscribe(channel)
        return self._subscription

    async def disconnect(self, code: int) -> None:
        """Stop watching."""
        await super().disconnect(code)
        if self._subscription is not None:
            await hub().unsubscribe(self._subscription)


class SessionPageConsumer(PageConsumer):
    """The live page of one session."""

    can_edit = False
    _session: JudgeSession | None = None
    _state = ""

    @property
    def _pk(self) -> int:
        return int(self.scope["url_route"]["kwargs"]["pk"])

    def still_allowed(self) -> bool:
        """Whether the session is shown to this person; also whether it is theirs to run."""
        self._session = JudgeSession.objects.visible_to(self.user).filter(pk=self._pk).first()
        if self._session is None:
            return False
        self.can_edit = access.may(self.user, access.CHANGE) and access.may_edit(self.user, self._session)
        return True

    async def on_accepted(self) -> None:
        """Begin to follow the session."""
        subscription = await self.watch(SESSION_CHANNEL.format(self._pk))
        self.spawn(self._follow(subscription, session_drawing(self._pk, page_language(self.scope))))

    async def _follow(self, subscription: Subscription, drawing: SessionDrawing) -> None:
        page = await self._snapshot(drawing)
        while page is not None:
            if not page.take_all(await _events(subscription, page.next_due())):
                page = await self._snapshot(drawing, page)
                continue
            if pieces := page.pieces():
                await self.send("".join(partials.stream_piece(*piece) for piece in pieces.items()))
            if names := page.due():
                await self._send_parts(drawing, page, names)

    async def _snapshot(self, drawing: SessionDrawing, page: PageState | None = None) -> PageState | None:
        """Send the whole page as the database has it; None when the session is gone."""
        session = await JudgeSession.objects.filter(pk=self._pk).afirst()
        if session is None:
            await self.close(FORBIDDEN)
            return None
        self._state = ""
        fresh = PageState(session.worker_count, session.status, bool(session.completed_comparisons))
        if page is not None:
            fresh.follow_on(page)
        await self._send_parts(drawing, fresh, ["state", "actions", "progress", "lanes", "queue", "history"])
        return fresh

    async def _send_parts(self, drawing: SessionDrawing, page: PageState, names: list[str]) -> None:
        texts = []
        for name in names:
            drawn = await drawing.part("actions-edit" if name == "actions" and self.can_edit else name)
            if drawn is None:
                await self.close(FORBIDDEN)
                return
            text, shown = drawn
            page.drawn(shown)
            if name == "state":
                # Screen readers read this part aloud: what it says already is not sent again.
                if text == self._state:
                    continue
                self._state = text
            texts.append(text)
        if texts:
            await self.send("".join(texts))


class OverviewPageConsumer(PageConsumer):
    """The list of sessions, at most once a second."""

    async def on_accepted(self) -> None:
        """Begin to follow all sessions."""
        subscription = await self.watch(OVERVIEW_CHANNEL)
        self.spawn(self._follow(subscription))

    async def _follow(self, subscription: Subscription) -> None:
        number = parse_qs(self.scope.get("query_string", b"").decode("latin-1")).get("page", ["1"])[0]
        language = page_language(self.scope)
        await self.send(await self._table(number, language))
        while True:
            batch = await subscription.get()
            if await self._concerns(batch):
                await self.send(await self._table(number, language))
            await asyncio.sleep(OVERVIEW_PAUSE)

    @database_sync_to_async
    def _concerns(self, batch: list[dict[str, Any]]) -> bool:
        """Whether the events may be about a session this person sees; a gap may always be."""
        ids = {event["session_id"] for event in batch if "session_id" in event}
        is_gap = any("session_id" not in event for event in batch)
        return is_gap or JudgeSession.objects.visible_to(self.user).filter(pk__in=ids).exists()

    @database_sync_to_async
    def _table(self, number: str, language: str) -> str:
        with translation.override(language):
            return partials.sessions_table(self.user, partials.sessions_page(self.user, number))


async def _events(subscription: Subscription, until: float | None) -> list[dict[str, Any]]:
    """The next events, or none when ``until`` (the loop's time) comes first."""
    if until is None:
        return await subscription.get()
    try:
        async with asyncio.timeout_at(until):
            return await subscription.get()
    except TimeoutError:
        return []
