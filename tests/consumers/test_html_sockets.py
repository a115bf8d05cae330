"""The sockets of the pages: parts of HTML, in the reader's language, for those who may see them."""

import asyncio

import pytest
import redis
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.utils import timezone

from judge import events
from judge.consumers import base
from judge.consumers.pages import PAUSES
from judge.models import JudgeSession
from tests.consumers.conftest import PATIENCE, Open, Socket, progressed, publish, socket
from tests.factories import SessionFactory, judged, running, share

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

ROOTS = ("session-state", "session-actions", "session-progress", "lane-0", "lane-1", "session-queue", "session-history")


def path(session: JudgeSession) -> str:
    return f"/ws/judge/html/session/{session.pk}/"


async def html(made: Socket) -> str:
    frame = await made.receive_output(PATIENCE)
    assert frame["type"] == "websocket.send", frame
    return str(frame["text"])


async def html_with(made: Socket, text: str) -> str:
    """The next frame that holds the text."""
    async with asyncio.timeout(PATIENCE):
        while text not in (frame := await html(made)):
            pass
    return frame


def piece(session: JudgeSession, comparison_id: int, offset: int, token: str, claim: str) -> events.LLMStream:
    return events.LLMStream(
        session_id=session.pk,
        worker_id=0,
        comparison_id=comparison_id,
        claim_token=claim,
        offset=offset,
        token=token,
    )


async def test_the_anonymous_and_strangers_are_refused_alike(session: JudgeSession, stranger: User) -> None:
    async def answer(user: User | None, address: str) -> dict[str, object]:
        made = await sync_to_async(socket)(user, address)
        await made.send_input({"type": "websocket.connect"})
        return dict(await made.receive_output(PATIENCE))

    foreign = await answer(stranger, path(session))
    unknown = await answer(stranger, f"/ws/judge/html/session/{session.pk + 999}/")
    assert foreign == unknown
    assert foreign["type"] == "websocket.close"
    assert (await answer(None, path(session)))["type"] == "websocket.close"
    assert (await answer(None, "/ws/judge/html/overview/"))["type"] == "websocket.close"


async def test_whoever_joins_gets_the_whole_page(open_socket: Open, owner: User, session: JudgeSession) -> None:
    snapshot = await html(await open_socket(owner, path=path(session)))
    for root in ROOTS:
        assert f'id="{root}"' in snapshot
    assert snapshot.count("hx-swap-oob") == len(ROOTS)


async def test_buttons_come_only_to_those_who_may_press_them(
    open_socket: Open, owner: User, session: JudgeSession
) -> None:
    friend = await sync_to_async(share)(session)
    assert 'id="action-pause"' in await html(await open_socket(owner, path=path(session)))
    assert 'id="action-' not in await html(await open_socket(friend, path=path(session)))


async def test_the_page_speaks_the_readers_language(open_socket: Open, owner: User, session: JudgeSession) -> None:
    english = await open_socket(owner, path=path(session), headers=((b"accept-language", b"en"),))
    german = await open_socket(owner, path=path(session), headers=((b"accept-language", b"de"),))
    assert "Nothing judged in this lane yet." in await html(english)
    assert "Dieser Worker hat noch nichts beurteilt." in await html(german)


async def test_pieces_of_an_answer_are_appended_as_text(
    redis_client: redis.Redis, open_socket: Open, owner: User, session: JudgeSession
) -> None:
    first = await session.comparisons.order_by("queue_position").afirst()
    assert first is not None
    comparison = await sync_to_async(running)(first)
    claim = str(comparison.claim_token)
    await publish(piece(session, comparison.pk, 0, '{"a', claim))
    made = await open_socket(owner, path=path(session))
    assert "{&quot;a" in await html(made)
    await publish(piece(session, comparison.pk, 3, "<b>&", claim))
    assert await html(made) == '<div id="lane-0-stream" hx-swap-oob="beforeend">&lt;b&gt;&amp;</div>'
    await publish(piece(session, comparison.pk, 99, "later", claim))
    assert 'id="lane-0" ' in await html(made)


async def test_a_verdict_redraws_lane_history_and_progress(
    redis_client: redis.Redis, open_socket: Open, owner: User, session: JudgeSession
) -> None:
    made = await open_socket(owner, path=path(session), headers=((b"accept-language", b"en"),))
    await html(made)
    comparison = await session.comparisons.order_by("queue_position").afirst()
    assert comparison is not None
    comparison.session = session
    await sync_to_async(judged)(comparison)
    done = {"worker_id": 0, "comparison_id": comparison.pk, "winner": "A", "confidence": 0.8}
    await publish(events.ComparisonCompleted(session_id=session.pk, **done))
    frame = await html_with(made, 'id="lane-0"')
    assert "A wins" in frame
    assert 'id="session-history"' in frame
    assert "1 of 6 comparisons" in frame
    assert 'id="lane-1"' not in frame


async def test_a_missing_event_brings_the_whole_page(
    redis_client: redis.Redis, open_socket: Open, owner: User, session: JudgeSession
) -> None:
    made = await open_socket(owner, path=path(session))
    await html(made)
    await publish(progressed(session, 0))
    await html_with(made, "session-progress")
    redis_client.incr(f"llars:seq:{session.pk}", 5)
    await publish(progressed(session, 0))
    frame = await html(made)
    assert frame.count("hx-swap-oob") == len(ROOTS)


async def test_a_judge_that_is_stopped_while_others_go_on_is_told_once(
    redis_client: redis.Redis, open_socket: Open, owner: User, session: JudgeSession
) -> None:
    made = await open_socket(owner, path=path(session), headers=((b"accept-language", b"en"),))
    assert "state-notices" not in await html(made)
    await session.session_judges.aupdate(stop_reason="unauthorized", stopped_at=timezone.now())
    await publish(progressed(session, 0))
    frame = await html_with(made, "is stopped in this session. The provider refused the key.")
    assert frame.count("state-notices") == 1
    # Said already: what a screen reader would read out again is not sent again, also not once the pause is over.
    await asyncio.sleep(PAUSES["state"] + 0.2)
    await publish(progressed(session, 0))
    assert "session-state" not in await html_with(made, "session-progress")


async def test_a_pause_by_somebody_else_changes_the_buttons(
    redis_client: redis.Redis, open_socket: Open, owner: User, session: JudgeSession
) -> None:
    made = await open_socket(owner, path=path(session))
    await html(made)
    await JudgeSession.objects.filter(pk=session.pk).aupdate(status="paused")
    await publish(progressed(session, 0, "paused"))
    assert 'id="action-resume"' in await html_with(made, "session-actions")


async def test_what_a_page_says_is_ignored(open_socket: Open, owner: User, session: JudgeSession) -> None:
    made = await open_socket(owner, path=path(session))
    await html(made)
    await made.say("judge:get_status", session_id=session.pk)
    await made.send_input({"type": "websocket.receive", "text": "{nonsense"})
    await made.send_input({"type": "websocket.receive", "bytes": b"\x00"})
    assert await made.receive_nothing(0.2)


async def test_a_lost_permission_closes_the_page(
    open_socket: Open, session: JudgeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "RECHECK_SECONDS", 0.05)
    friend = await sync_to_async(share)(session)
    made = await open_socket(friend, path=path(session))
    await html(made)
    await session.shares.all().adelete()
    assert await made.closing_code() == base.FORBIDDEN


async def test_the_overview_shows_what_is_visible_and_stays_fresh(
    redis_client: redis.Redis, open_socket: Open, owner: User, stranger: User, session: JudgeSession
) -> None:
    foreign = await sync_to_async(SessionFactory)(owner=stranger)
    made = await open_socket(owner, path="/ws/judge/html/overview/?page=1")
    first = await html(made)
    assert session.name in first
    assert foreign.name not in first
    await publish(progressed(foreign, 1))
    assert await made.receive_nothing(0.3)
    await JudgeSession.objects.filter(pk=session.pk).aupdate(status="paused")
    await publish(progressed(session, 0, "paused"))
    assert "status-paused" in await html(made)
