"""Who may open a socket, and for how long."""

import asyncio
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from knox.models import AuthToken

from judge.consumers import base
from judge.models import JudgeSession, SessionShare
from tests.consumers.conftest import Open, socket
from tests.factories import UserFactory, share

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


async def is_refused(**options: object) -> bool:
    made = await sync_to_async(socket)(**options)  # type: ignore[arg-type]
    return not await made.connect()


async def test_the_anonymous_are_refused_before_the_socket_opens() -> None:
    assert await is_refused()


async def test_a_researcher_may_enter(open_socket: Open, owner: User) -> None:
    await open_socket(owner)


async def test_a_person_without_the_permission_is_refused(transactional_db: None) -> None:
    assert await is_refused(user=await sync_to_async(UserFactory)(groups=()))


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://localhost.evil.example", None])
async def test_a_foreign_or_missing_origin_is_refused(owner: User, origin: str | None) -> None:
    assert await is_refused(user=owner, origin=origin)


async def test_a_deactivated_person_is_refused(owner: User) -> None:
    made = await sync_to_async(socket)(owner)
    await User.objects.filter(pk=owner.pk).aupdate(is_active=False)
    assert not await made.connect()


async def test_a_token_in_the_header_opens_and_one_in_the_address_does_not(open_socket: Open, owner: User) -> None:
    _stored, token = await sync_to_async(AuthToken.objects.create)(user=owner)
    await open_socket(headers=((b"authorization", f"Token {token}".encode()),))
    for name in ("token", "authorization"):
        assert await is_refused(path=f"/ws/judge/?{name}={token}")


@pytest.mark.parametrize("value", [b"Token", b"Token wrong", b"Token \xff\xfe", b"Basic abc", b""])
async def test_a_wrong_token_is_refused_even_beside_a_good_cookie(owner: User, value: bytes) -> None:
    assert await is_refused(user=owner, headers=((b"authorization", value),))


async def test_an_unknown_address_is_refused(owner: User) -> None:
    assert await is_refused(user=owner, path="/ws/something/")


def test_permissions_are_asked_again_within_half_a_minute() -> None:
    assert base.RECHECK_SECONDS <= 25


LOSSES: dict[str, Callable[[User], object]] = {
    "deactivated": lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
    "permission lost": lambda user: user.groups.clear(),
    "logged out": lambda user: Session.objects.all().delete(),
    "share taken back": lambda user: SessionShare.objects.filter(user=user).delete(),
}


@pytest.mark.parametrize("loss", LOSSES)
async def test_the_socket_closes_when_the_right_to_see_is_lost(
    open_socket: Open, session: JudgeSession, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    monkeypatch.setattr(base, "RECHECK_SECONDS", 0.1)
    reader = await sync_to_async(share)(session)
    reading = await open_socket(reader)
    await reading.say("judge:join_session", session_id=session.pk)
    await reading.hear_until("judge:workers_status")
    await asyncio.sleep(0.5)
    assert await reading.receive_nothing()
    await sync_to_async(LOSSES[loss])(reader)
    assert await reading.closing_code() == base.FORBIDDEN


async def test_a_revoked_token_closes_its_socket(
    open_socket: Open, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "RECHECK_SECONDS", 0.1)
    stored, token = await sync_to_async(AuthToken.objects.create)(user=owner)
    reading = await open_socket(headers=((b"authorization", f"Token {token}".encode()),))
    await sync_to_async(stored.delete)()
    assert await reading.closing_code() == base.FORBIDDEN
