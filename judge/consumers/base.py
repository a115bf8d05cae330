"""What all sockets of the judge have in common: who may open one, for how long, and how large a frame may be."""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from importlib import import_module
from typing import Any

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from knox.auth import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed

from judge.selectors import access

logger = logging.getLogger(__name__)

RECHECK_SECONDS = 20.0
MAX_FRAME_BYTES = 64 * 1024

FORBIDDEN = 4403
TOO_BIG = 1009
FAILED = 1011


class GuardedConsumer(AsyncWebsocketConsumer):
    """A socket for people who may view sessions, by cookie or by an Authorization header as in the API.

    Everybody else is refused before the socket is accepted. Permissions are asked again every 20 seconds, and the
    socket is closed when they are gone. Subclasses say what else must hold (``still_allowed``) and what a frame means
    (``on_text``).
    """

    user: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._tasks: set[asyncio.Task[None]] = set()

    async def connect(self) -> None:
        """Accept who may view sessions."""
        # The middleware has just read the cookie's session; a token is ours to read.
        self.user = self.scope["user"] if _token(self.scope) is None else await self._person()
        if self.user is None or not await self._still_allowed():
            await self.close(FORBIDDEN)
            return
        await self.accept()
        self.spawn(self._guard())
        await self.on_accepted()

    async def on_accepted(self) -> None:
        """The socket is open."""

    def still_allowed(self) -> bool:
        """Whether what this socket shows is this person's to see (asked in a thread that may use the database)."""
        return True

    async def on_text(self, text: str) -> None:
        """A frame of at most 64 KB arrived."""

    async def on_binary(self) -> None:
        """A binary frame arrived."""

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Close on a frame that no message of ours needs; else hand it on."""
        frame = bytes_data if text_data is None else text_data.encode(errors="surrogatepass")
        if len(frame or b"") > MAX_FRAME_BYTES:
            await self.close(TOO_BIG)
        elif text_data is None:
            await self.on_binary()
        else:
            await self.on_text(text_data)

    async def disconnect(self, code: int) -> None:
        """End everything that runs for this socket."""
        tasks, self._tasks = self._tasks, set()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run something beside the socket until it closes. If it fails the socket closes: the client will return."""
        task = asyncio.create_task(self._watched(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _watched(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except OSError:  # the client is gone
            await self._close_quietly()
        except Exception as error:
            logger.warning("socket_failed consumer=%s error=%s", type(self).__name__, type(error).__name__)
            await self._close_quietly()

    async def _close_quietly(self) -> None:
        with contextlib.suppress(Exception):
            await self.close(FAILED)

    async def _guard(self) -> None:
        while True:
            await asyncio.sleep(RECHECK_SECONDS)
            self.user = await self._person()
            if self.user is None or not await self._still_allowed():
                # What a frozen reader was still to get must not go out any more.
                for task in self._tasks - {asyncio.current_task()}:
                    task.cancel()
                await self.close(FORBIDDEN)
                return

    @database_sync_to_async
    def _still_allowed(self) -> bool:
        return access.may(self.user, access.VIEW) and self.still_allowed()

    async def _person(self) -> AbstractBaseUser | None:
        """Who this is, asked anew: a logout, a new password, a revoked token or a deactivated account count at once."""
        token = _token(self.scope)
        if token is not None:
            return await _owner_of(token)
        session = self.scope.get("session")
        if session is None or not session.session_key:
            return None
        store = import_module(settings.SESSION_ENGINE).SessionStore(session.session_key)
        user = await get_user({"session": store})
        return user if user.is_authenticated and user.is_active else None


def _token(scope: dict[str, Any]) -> bytes | None:
    """The token of the Authorization header; never one from the address."""
    for name, value in scope.get("headers", []):
        if name.lower() == b"authorization":
            scheme, _, token = value.partition(b" ")
            return token.strip() if scheme.lower() == b"token" else b""
    return None


@database_sync_to_async
def _owner_of(token: bytes) -> AbstractBaseUser | None:
    try:
        user, _token = TokenAuthentication().authenticate_credentials(token)
    except (AuthenticationFailed, UnicodeDecodeError):
        return None
    return user
