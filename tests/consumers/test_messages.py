"""The JSON socket's messages, bad ones included."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User

from judge.consumers import base
from judge.models import JudgeSession
from tests.consumers.conftest import Open
from tests.factories import SessionFactory, running

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def busy(session: JudgeSession) -> int:
    """The comparison that lane 1 judges."""
    return running(session.comparisons.first(), worker_id=1).pk


async def test_joining_answers_with_the_snapshot(
    open_socket: Open, owner: User, session: JudgeSession, busy: int
) -> None:
    watching = await open_socket(owner)
    await watching.say("judge:join_session", session_id=session.pk)
    assert await watching.hear() == {"type": "judge:joined", "session_id": session.pk}
    status = await watching.hear("judge:status")
    assert (status["session_id"], status["seq"], status["status"]) == (session.pk, None, "running")
    assert status["progress"]["total"] == session.total_comparisons
    assert (status["progress"]["running"], status["queue_pending"]) == (1, session.total_comparisons - 1)
    assert [lane["comparison_id"] for lane in status["workers"]] == [None, busy]
    assert status["workers"][1]["stream_text"] == ""
    assert await watching.hear() == {
        "type": "judge:workers_status",
        "session_id": session.pk,
        "workers": [
            {"worker_id": 0, "status": "idle", "comparison_id": None},
            {"worker_id": 1, "status": "running", "comparison_id": busy},
        ],
        "queue_pending": session.total_comparisons - 1,
        "completed": 0,
        "failed": 0,
        "total": session.total_comparisons,
    }


async def test_the_status_is_told_without_joining(open_socket: Open, owner: User, session: JudgeSession) -> None:
    asking = await open_socket(owner)
    await asking.say("judge:get_status", session_id=str(session.pk))
    assert (await asking.hear("judge:status"))["session_id"] == session.pk
    assert await asking.receive_nothing()


async def test_joining_twice_is_joining_once(open_socket: Open, owner: User, session: JudgeSession) -> None:
    watching = await open_socket(owner)
    for _ in range(2):
        await watching.say("judge:join_session", session_id=session.pk)
        await watching.hear("judge:joined")
        await watching.hear("judge:status")
        await watching.hear("judge:workers_status")
    assert await watching.receive_nothing()


@pytest.mark.parametrize("kind", ["judge:join_session", "judge:get_status"])
async def test_a_foreign_session_looks_like_one_that_does_not_exist(
    open_socket: Open, stranger: User, session: JudgeSession, kind: str
) -> None:
    prying = await open_socket(stranger)
    answers = []
    for session_id in (session.pk, session.pk + 1000):
        await prying.say(kind, session_id=session_id)
        answers.append(await prying.hear("judge:error"))
    assert answers[0] == answers[1]
    assert answers[0]["code"] == "not_found"


BAD: list[tuple[str, str]] = [
    ("", "bad_message"),
    ("{", "bad_message"),
    ("[]", "bad_message"),
    ("null", "bad_message"),
    ('{"type": 5}', "bad_message"),
    ('{"session_id": 1}', "bad_message"),
    ("[" * 20_000, "bad_message"),
    ('{"type": "judge:delete_everything"}', "unknown_type"),
    ('{"type": "__init__"}', "unknown_type"),
    ('{"type": "judge:join_session"}', "bad_session_id"),
]
BAD += [
    (json.dumps({"type": "judge:join_session", "session_id": value}), "bad_session_id")
    for value in (None, 0, -1, 1.5, True, "x", "٣", "9" * 40, 2**63, [1], {"a": 1})
]


async def test_bad_messages_are_answered_and_the_socket_lives_on(
    open_socket: Open, owner: User, session: JudgeSession
) -> None:
    clumsy = await open_socket(owner)
    for text, code in BAD:
        await clumsy.send_input({"type": "websocket.receive", "text": text})
        answer = await clumsy.hear("judge:error")
        assert (answer["code"], text[:80]) == (code, text[:80])
    await clumsy.send_input({"type": "websocket.receive", "bytes": b"\x00\x01"})
    assert (await clumsy.hear("judge:error"))["code"] == "bad_message"
    await clumsy.say("judge:get_status", session_id=session.pk)
    await clumsy.hear("judge:status")


async def test_an_error_of_ours_is_answered_without_its_words(
    open_socket: Open, owner: User, session: JudgeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any) -> None:
        raise RuntimeError("a sentence of a letter")

    monkeypatch.setattr("judge.consumers.json.session_snapshot", fail)
    asking = await open_socket(owner)
    await asking.say("judge:get_status", session_id=session.pk)
    answer = await asking.hear("judge:error")
    assert (answer["code"], answer["request"]) == ("internal_error", "judge:get_status")
    assert "sentence" not in json.dumps(answer)


@pytest.mark.parametrize("frame", [{"text": "x" * (64 * 1024 + 1)}, {"text": "ü" * 40_000}, {"bytes": b"x" * 70_000}])
async def test_a_frame_that_is_too_large_closes_the_socket(
    open_socket: Open, owner: User, frame: dict[str, Any]
) -> None:
    flooding = await open_socket(owner)
    await flooding.send_input({"type": "websocket.receive", **frame})
    assert await flooding.closing_code() == base.TOO_BIG


async def test_one_socket_watches_so_many_sessions_and_no_more(
    open_socket: Open, owner: User, session: JudgeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judge.consumers.json.MAX_SESSIONS", 0)
    greedy = await open_socket(owner)
    await greedy.say("judge:join_session", session_id=session.pk)
    assert (await greedy.hear("judge:error"))["code"] == "too_many_sessions"


async def test_the_overview_lists_what_is_visible_and_nothing_else(
    open_socket: Open, owner: User, session: JudgeSession, foreign: JudgeSession
) -> None:
    watching = await open_socket(owner)
    await watching.say("judge:join_overview")
    assert await watching.hear() == {"type": "judge:joined", "overview": True}
    status = await watching.hear("judge:status")
    assert status["sessions"] == [
        {
            "session_id": session.pk,
            "session_name": session.name,
            "status": "running",
            "status_reason": "",
            "completed": 0,
            "failed": 0,
            "total": session.total_comparisons,
        }
    ]
    await watching.say("judge:leave_overview")
    assert await watching.hear() == {"type": "judge:left", "overview": True}


@pytest.fixture
def foreign(stranger: User) -> JudgeSession:
    return SessionFactory(owner=stranger)


async def test_without_redis_the_snapshot_comes_all_the_same(
    open_socket: Open, owner: User, session: JudgeSession, settings: Any
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    watching = await open_socket(owner)
    await watching.say("judge:join_session", session_id=session.pk)
    assert [message["type"] for message in await watching.hear_until("judge:workers_status")] == [
        "judge:joined",
        "judge:status",
        "judge:workers_status",
    ]
