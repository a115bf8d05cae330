"""Events on their way from a worker through Redis to the sockets."""

import asyncio
from typing import Any

import pytest
import redis
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User

from judge import events
from judge.consumers.watching import SessionWatch
from judge.events.hub import QUEUE_LENGTH, Subscription
from judge.events.publisher import SEQ_KEY
from judge.models import JudgeSession
from judge.services import control
from tests.consumers.conftest import Open, Socket, progressed, publish, started
from tests.factories import SessionFactory, running

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


async def joined(open_socket: Open, user: User, session: JudgeSession) -> Socket:
    watching = await open_socket(user)
    await watching.say("judge:join_session", session_id=session.pk)
    await watching.hear_until("judge:workers_status")
    return watching


async def test_events_arrive_complete_and_in_order(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    watching = await joined(open_socket, owner, session)
    sent = [
        started(session),
        *(
            events.LLMStream(
                session_id=session.pk, worker_id=0, comparison_id=5, claim_token="t", offset=place, token=f"ü{place}"
            )
            for place in range(20)
        ),
        events.ComparisonCompleted(session_id=session.pk, worker_id=0, comparison_id=5, winner="A", confidence=0.8),
        events.SessionComplete(session_id=session.pk, status="completed"),
    ]
    for event in sent:
        await publish(event)
    heard = await watching.hear_until("judge:session_complete")
    forwarded = [message for message in heard if message["type"] != "judge:workers_status"]
    assert [message.pop("seq") for message in forwarded] == list(range(1, len(sent) + 1))
    assert forwarded == [event.payload() for event in sent]


async def test_the_lanes_status_follows_the_events(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    watching = await joined(open_socket, owner, session)
    await publish(started(session, comparison_id=5, worker_id=1))
    status = (await watching.hear_until("judge:workers_status"))[-1]
    assert status["workers"][1] == {"worker_id": 1, "status": "running", "comparison_id": 5}
    assert status["queue_pending"] == session.total_comparisons - 1
    await publish(
        events.ComparisonFailed(
            session_id=session.pk, worker_id=1, comparison_id=5, error_code="empty", will_retry=True
        )
    )
    await publish(
        events.ComparisonCompleted(session_id=session.pk, worker_id=1, comparison_id=5, winner="B", confidence=1.0)
    )
    await publish(progressed(session, completed=1))
    status = (await watching.hear_until("judge:workers_status"))[-1]
    while status["completed"] == 0:
        status = (await watching.hear_until("judge:workers_status"))[-1]
    assert status["workers"][1]["status"] == "idle"


async def test_an_abort_empties_the_lanes(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    await sync_to_async(lambda: running(session.comparisons.first()))()
    watching = await joined(open_socket, owner, session)
    await sync_to_async(control.abort)(session.pk)
    kinds: set[str] = set()
    lanes: list[dict[str, Any]] = [{"status": "running"}]
    while any(lane["status"] == "running" for lane in lanes) or "judge:progress" not in kinds:
        message = await watching.hear()
        kinds.add(message["type"])
        lanes = message.get("workers", lanes)
    assert "judge:session_complete" in kinds


async def test_a_number_that_is_missing_brings_the_snapshot(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    watching = await joined(open_socket, owner, session)
    await publish(progressed(session, completed=1))
    await watching.hear_until("judge:progress")
    redis_client.incr(SEQ_KEY.format(session.pk))
    await publish(progressed(session, completed=2))
    assert (await watching.hear_until("judge:status"))[-1]["session_id"] == session.pk
    await watching.hear("judge:workers_status")
    await publish(progressed(session, completed=3))
    assert (await watching.hear("judge:progress"))["seq"] == 4


async def test_numbers_that_begin_anew_bring_the_snapshot(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    watching = await joined(open_socket, owner, session)
    for completed in (1, 2):
        await publish(progressed(session, completed=completed))
        await watching.hear_until("judge:progress")
    redis_client.flushdb()
    await publish(progressed(session, completed=3))
    await watching.hear_until("judge:status")


async def test_who_left_hears_nothing(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    watching = await joined(open_socket, owner, session)
    await watching.say("judge:leave_session", session_id=session.pk)
    assert await watching.hear() == {"type": "judge:left", "session_id": session.pk}
    await publish(started(session))
    assert await watching.receive_nothing(timeout=0.5)


async def test_the_overview_hears_visible_sessions_only(
    open_socket: Open, owner: User, session: JudgeSession, stranger: User, redis_client: redis.Redis
) -> None:
    foreign = await sync_to_async(SessionFactory)(owner=stranger, status="running")
    watching = await open_socket(owner)
    await watching.say("judge:join_overview")
    await watching.hear_until("judge:status")
    await publish(progressed(foreign, completed=1))
    await publish(progressed(session, completed=1))
    assert (await watching.hear("judge:progress"))["session_id"] == session.pk
    assert await watching.receive_nothing(timeout=0.3)


async def test_a_closed_socket_leaves_no_subscription(
    open_socket: Open, owner: User, session: JudgeSession, redis_client: redis.Redis
) -> None:
    staying = await joined(open_socket, owner, session)
    going = await joined(open_socket, owner, session)
    await going.disconnect()
    await publish(started(session))
    await staying.hear("judge:comparison_start")
    await staying.say("judge:leave_session", session_id=session.pk)
    await staying.hear_until("judge:left")
    await asyncio.sleep(0.3)
    assert redis_client.pubsub_numsub(f"llars:session:{session.pk}")[0][1] == 0


class Reader:
    """A reader that can stop reading."""

    def __init__(self) -> None:
        self.reads = asyncio.Event()
        self.got: list[str] = []

    async def send(self, text: str) -> None:
        await self.reads.wait()
        self.got.append(text)


async def test_a_frozen_reader_loses_its_own_queue_and_gets_the_snapshot(owner: User, session: JudgeSession) -> None:
    frozen, lively = Reader(), Reader()
    watches = [SessionWatch(Subscription("x"), reader.send, owner, session.pk) for reader in (frozen, lively)]
    following = [asyncio.create_task(watch.follow()) for watch in watches]
    lively.reads.set()
    count = 2 * QUEUE_LENGTH
    for seq in range(1, count + 1):
        event: dict[str, Any] = {"type": "judge:results_updated", "seq": seq, "session_id": session.pk}
        for watch in watches:
            watch.subscription.put(event)
        await asyncio.sleep(0)
    await until(lambda: len(lively.got) == count)
    assert not any("judge:status" in text for text in lively.got)
    assert frozen.got == []
    frozen.reads.set()
    await until(lambda: any("judge:workers_status" in text for text in frozen.got))
    assert sum("judge:status" in text for text in frozen.got) == 1
    assert len(frozen.got) < QUEUE_LENGTH
    for task in following:
        task.cancel()
    await asyncio.gather(*following, return_exceptions=True)


async def until(holds: Any, seconds: float = 20) -> None:
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0.01)
