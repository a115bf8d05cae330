"""Real people with real logins at the project's own ASGI application, and a real Redis."""

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
import redis
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from judge import events
from judge.events.silence import Silence
from judge.models import JudgeSession
from llars.asgi import application
from tests.factories import SessionFactory, UserFactory

ORIGIN = "http://localhost"
Open = Callable[..., Awaitable["Socket"]]

# Seconds that anything to be heard may take on a busy machine.
PATIENCE = 20


class Socket(ApplicationCommunicator):
    """A socket of one person. (The communicator that comes with channels cannot be imported without daphne.)"""

    def __init__(self, path: str, headers: list[tuple[bytes, bytes]]) -> None:
        place, _, query = path.partition("?")
        scope = {"type": "websocket", "path": place, "query_string": query.encode(), "headers": headers}
        super().__init__(application, {**scope, "subprotocols": []})

    async def connect(self) -> bool:
        """Whether the socket was accepted."""
        await self.send_input({"type": "websocket.connect"})
        return bool((await self.receive_output(PATIENCE))["type"] == "websocket.accept")

    async def disconnect(self) -> None:
        """Go away."""
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(PATIENCE)

    async def say(self, kind: str, **fields: Any) -> None:
        """Send one message."""
        await self.send_input({"type": "websocket.receive", "text": json.dumps({"type": kind, **fields})})

    async def hear(self, *kinds: str) -> dict[str, Any]:
        """The next message; its type must be one of ``kinds`` if any are given."""
        frame = await self.receive_output(PATIENCE)
        assert frame["type"] == "websocket.send", frame
        message: dict[str, Any] = json.loads(frame["text"])
        assert not kinds or message["type"] in kinds, message
        return message

    async def hear_until(self, kind: str) -> list[dict[str, Any]]:
        """All messages up to the next one of a type."""
        heard = [await self.hear()]
        while heard[-1]["type"] != kind:
            heard.append(await self.hear())
        return heard

    async def closing_code(self) -> int:
        """Wait until the server closes the socket."""
        while True:
            message = await self.receive_output(PATIENCE)
            if message["type"] == "websocket.close":
                return int(message["code"])


def cookie_of(user: User) -> str:
    """The cookie of a person who is logged in."""
    client = Client()
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def socket(
    user: User | None = None,
    path: str = "/ws/judge/",
    origin: str | None = ORIGIN,
    headers: tuple[tuple[bytes, bytes], ...] = (),
) -> Socket:
    """A socket that is not open yet."""
    all_headers = list(headers)
    if origin is not None:
        all_headers.append((b"origin", origin.encode()))
    if user is not None:
        all_headers.append((b"cookie", cookie_of(user).encode()))
    return Socket(path, all_headers)


@pytest.fixture(autouse=True)
async def no_connection_left() -> AsyncIterator[None]:
    """Consumers use the database in a thread of their own; its connection would keep the test database in use."""
    yield
    await sync_to_async(connections.close_all)()


@pytest.fixture
async def open_socket(transactional_db: None) -> AsyncIterator[Open]:
    """Open sockets that are closed at the end of the test."""
    opened: list[Socket] = []

    async def open_it(user: User | None = None, **options: Any) -> Socket:
        made = await sync_to_async(socket)(user, **options)
        assert await made.connect()
        opened.append(made)
        return made

    yield open_it
    for made in opened:
        await made.disconnect()


@pytest.fixture
def redis_client() -> redis.Redis:
    """The Redis that events travel through; without one the test is skipped, under CI it fails."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1)
    try:
        client.ping()
    except redis.RedisError as error:
        reason = f"no Redis at LLARS_REDIS_URL ({type(error).__name__})"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    client.flushdb()
    Silence.until = 0.0
    return client


@pytest.fixture
def owner(transactional_db: None) -> User:
    """A researcher whose session this is."""
    return UserFactory()


@pytest.fixture
def stranger(transactional_db: None) -> User:
    """A researcher who has nothing to do with it."""
    return UserFactory()


@pytest.fixture
def session(owner: User) -> JudgeSession:
    """A running session with two lanes."""
    return SessionFactory(owner=owner, status="running", worker_count=2)


async def publish(event: events.Event) -> int | None:
    """Publish as a worker does."""
    return await sync_to_async(events.publish)(event)


def started(session: JudgeSession, comparison_id: int = 5, worker_id: int = 0) -> events.ComparisonStarted:
    """A lane began."""
    return events.ComparisonStarted(
        session_id=session.pk,
        worker_id=worker_id,
        comparison_id=comparison_id,
        position_order=1,
        thread_a_id=1,
        thread_b_id=2,
        pillar_a=1,
        pillar_b=2,
    )


def progressed(session: JudgeSession, completed: int, status: str = "running") -> events.ProgressChanged:
    """The counters changed."""
    return events.ProgressChanged(
        session_id=session.pk,
        status=status,
        status_reason="",
        completed=completed,
        failed=0,
        total=session.total_comparisons,
    )
