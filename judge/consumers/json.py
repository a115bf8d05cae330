"""The JSON socket at /ws/judge/: messages {type, ...} in both directions."""

import json
import logging
from asyncio import Task
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from channels.db import database_sync_to_async

from judge.consumers.base import GuardedConsumer
from judge.consumers.encoding import encode
from judge.consumers.snapshots import session_snapshot
from judge.consumers.watching import Gone, OverviewWatch, SessionWatch, Watch
from judge.events.hub import hub
from judge.events.publisher import OVERVIEW_CHANNEL, SESSION_CHANNEL
from judge.models import JudgeSession

logger = logging.getLogger(__name__)

MAX_SESSIONS = 50
MAX_ID = 2**63 - 1
MESSAGES = {
    "bad_message": 'This is not a message of the form {"type": ...}.',
    "unknown_type": "There is no such message.",
    "bad_session_id": "session_id must be a positive whole number.",
    "not_found": "There is no such session.",
    "too_many_sessions": f"One socket can watch {MAX_SESSIONS} sessions.",
    "internal_error": "This could not be answered. Please try again.",
}


class BadMessage(Exception):
    """A message that is answered by judge:error. ``code`` is one of MESSAGES."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class JudgeConsumer(GuardedConsumer):
    """Watches sessions and the overview. Bad messages are answered by judge:error; the socket stays open."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._sessions: dict[int, tuple[SessionWatch, Task[None]]] = {}
        self._overview: tuple[OverviewWatch, Task[None]] | None = None

    def still_allowed(self) -> bool:
        """Whether every watched session is still shown to this person."""
        if self._overview is not None:
            self._overview[0].forget()
        watched = list(self._sessions)
        return not watched or JudgeSession.objects.visible_to(self.user).filter(pk__in=watched).count() == len(watched)

    async def on_binary(self) -> None:
        """Messages are text."""
        await self._refuse("bad_message")

    async def on_text(self, text: str) -> None:
        """Answer one message of the client."""
        kind = None
        try:
            message = _parsed(text)
            kind = message["type"]
            if kind not in self.HANDLERS:
                raise BadMessage("unknown_type")
            await self.HANDLERS[kind](self, message)
        except BadMessage as bad:
            await self._refuse(bad.code, kind)
        except Gone:
            await self._refuse("not_found", kind)
        except OSError:
            raise  # the client is gone
        except Exception as error:
            logger.warning("socket_message_failed type=%s error=%s", kind, type(error).__name__)
            await self._refuse("internal_error", kind)

    async def disconnect(self, code: int) -> None:
        """End all subscriptions."""
        await super().disconnect(code)
        watches: list[Watch] = [watch for watch, _task in self._sessions.values()]
        if self._overview is not None:
            watches.append(self._overview[0])
        self._sessions, self._overview = {}, None
        for watch in watches:
            await hub().unsubscribe(watch.subscription)

    async def _join_session(self, message: dict[str, Any]) -> None:
        session_id = _session_id(message)
        await self._visible(session_id)
        if session_id in self._sessions:
            await self._say("judge:joined", session_id=session_id)
            await self._sessions[session_id][0].snapshot()
            return
        if len(self._sessions) >= MAX_SESSIONS:
            raise BadMessage("too_many_sessions")
        # Subscribe first, then read: what happens in between comes as an event, never gets lost.
        subscription = await hub().subscribe(SESSION_CHANNEL.format(session_id))
        watch = SessionWatch(subscription, self.send, self.user, session_id)
        try:
            await self._say("judge:joined", session_id=session_id)
            await watch.snapshot()
        except BaseException:
            await hub().unsubscribe(subscription)
            raise
        self._sessions[session_id] = (watch, self.spawn(watch.follow()))

    async def _leave_session(self, message: dict[str, Any]) -> None:
        session_id = _session_id(message)
        watched = self._sessions.pop(session_id, None)
        if watched is not None:
            await _end(*watched)
        await self._say("judge:left", session_id=session_id)

    async def _join_overview(self, message: dict[str, Any]) -> None:
        if self._overview is None:
            watch = OverviewWatch(await hub().subscribe(OVERVIEW_CHANNEL), self.send, self.user)
            self._overview = (watch, self.spawn(watch.follow()))
        await self._say("judge:joined", overview=True)
        await self._overview[0].snapshot()

    async def _leave_overview(self, message: dict[str, Any]) -> None:
        watched, self._overview = self._overview, None
        if watched is not None:
            await _end(*watched)
        await self._say("judge:left", overview=True)

    async def _get_status(self, message: dict[str, Any]) -> None:
        status = await self._snapshot(await self._visible(_session_id(message)))
        await self.send(encode(status))

    @database_sync_to_async
    def _visible(self, session_id: int) -> JudgeSession:
        session = JudgeSession.objects.visible_to(self.user).filter(pk=session_id).first()
        if session is None:
            raise BadMessage("not_found")
        return session

    @database_sync_to_async
    def _snapshot(self, session: JudgeSession) -> dict[str, Any]:
        return session_snapshot(session)

    async def _say(self, kind: str, **fields: Any) -> None:
        await self.send(encode({"type": kind, **fields}))

    async def _refuse(self, code: str, request: object = None) -> None:
        known = request if isinstance(request, str) and request in self.HANDLERS else None
        await self._say("judge:error", code=code, message=MESSAGES[code], request=known)

    HANDLERS: ClassVar[dict[str, Callable[["JudgeConsumer", dict[str, Any]], Awaitable[None]]]] = {
        "judge:join_session": _join_session,
        "judge:leave_session": _leave_session,
        "judge:join_overview": _join_overview,
        "judge:leave_overview": _leave_overview,
        "judge:get_status": _get_status,
    }


async def _end(watch: Watch, task: Task[None]) -> None:
    task.cancel()
    await hub().unsubscribe(watch.subscription)


def _parsed(text: str) -> dict[str, Any]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage("bad_message") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadMessage("bad_message")
    return message


def _session_id(message: dict[str, Any]) -> int:
    """The id as number, or as text of digits, as an address in a browser gives it."""
    value = message.get("session_id")
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= MAX_ID:
        raise BadMessage("bad_session_id")
    return value
