"""A provider that cannot be used, and requests that it will never take: no retry, and the cause by name (24 and 26)."""

import json
from typing import Any

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeComparison, JudgeModel, ProviderState, SessionJudge
from judge.selectors.health import health
from judge.services import control
from judge.simulated.server import SimulatedServer
from pillars.models import Message
from tests.conftest import MakeSession
from tests.factories import KEY
from tests.faults.playing import at_work, judge_all, one_comparison, only_comparison, outcomes, reason, untouched
from tests.queue.held import held
from tests.queue.threads import until

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

QUOTA = {"code": "insufficient_quota", "type": "insufficient_quota"}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"status": 401, "code": "invalid_api_key"}, ErrorCode.UNAUTHORIZED),
        ({"status": 403}, ErrorCode.UNAUTHORIZED),
        ({"status": 429, **QUOTA}, ErrorCode.INSUFFICIENT_QUOTA),
        ({"status": 429, **QUOTA, "retry_after": "3600"}, ErrorCode.INSUFFICIENT_QUOTA),
        ({"status": 402}, ErrorCode.INSUFFICIENT_QUOTA),
        ({"status": 404, "code": "model_not_found"}, ErrorCode.MODEL_NOT_FOUND),
        ({"status": 404}, ErrorCode.MODEL_NOT_FOUND),
    ],
    ids=["wrong key", "forbidden", "no quota", "no quota for an hour", "no money", "no such model", "wrong address"],
)
def test_one_refusal_pauses_the_session_with_its_reason_and_the_key_is_never_repeated(
    make_session: MakeSession,
    server: SimulatedServer,
    model: JudgeModel,
    caplog: pytest.LogCaptureFixture,
    fault: dict[str, Any],
    code: ErrorCode,
) -> None:
    caplog.set_level("DEBUG")
    model.provider.api_key = KEY
    model.provider.save()
    server.script(rules=[{"kind": "status", "message": f"Incorrect API key provided: {KEY}", **fault}])
    session = judge_all(make_session(worker_count=1))
    assert (outcomes(session), server.calls) == ([code], 1)
    assert reason(session) == (SessionStatus.PAUSED, code)
    assert untouched(session)
    assert SessionJudge.objects.get(session=session).stop_reason == code
    assert [(cause.code, cause.reason) for cause in health(session).causes][:1] == [("paused_because", code)]
    assert not ProviderState.objects.filter(blocked_until__isnull=False).exists()
    written = [*JudgeAttempt.objects.values(), *JudgeComparison.objects.values(), *SessionJudge.objects.values()]
    assert KEY not in json.dumps(written, default=str)
    assert KEY not in caplog.text
    server.reset()
    control.resume(session.pk)
    assert judge_all(session).status == SessionStatus.COMPLETED


def test_five_lanes_that_are_refused_at_once_call_once_each(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script(rules=[{"kind": "status", "status": 401}])
    session = make_session(worker_count=5)
    with held(server) as release, at_work(session):
        until(lambda: server.calls == 5, "five calls at once")
        release()
        until(lambda: reason(session)[0] == SessionStatus.PAUSED, "the session to pause")
    assert reason(session) == (SessionStatus.PAUSED, ErrorCode.UNAUTHORIZED)
    assert server.calls == 5
    assert untouched(session)


@pytest.mark.parametrize(
    ("fault", "code", "named"),
    [
        (
            {"status": 400, "code": "unsupported_value", "message": "temperature does not support 0"},
            ErrorCode.BAD_REQUEST,
            "about temperature",
        ),
        ({"status": 400, "code": "unknown_parameter", "param": "seed"}, ErrorCode.BAD_REQUEST, "param seed"),
        ({"status": 400, "code": "context_length_exceeded"}, ErrorCode.TOO_LONG, "context_length_exceeded"),
        ({"status": 400, "message": "maximum context length is 4096 tokens"}, ErrorCode.TOO_LONG, "HTTP 400"),
    ],
    ids=["bad value", "bad parameter", "context overflow", "context overflow in words"],
)
def test_a_request_that_will_never_be_taken_is_made_once_and_the_cause_is_named(
    make_session: MakeSession, server: SimulatedServer, fault: dict[str, Any], code: ErrorCode, named: str
) -> None:
    server.script(rules=[{"kind": "status", **fault}])
    session = judge_all(one_comparison(make_session))
    comparison = only_comparison(session)
    assert (outcomes(session), server.calls) == ([code], 1)
    assert (comparison.status, comparison.error_code) == ("failed", code)
    assert named in comparison.error_message
    assert reason(session) == (SessionStatus.FAILED, "nothing_judged")
    # What was too long was not shortened behind anybody's back: every message of both threads was sent.
    sent = json.dumps(server.requests[0]["messages"], ensure_ascii=False)
    contents = Message.objects.filter(thread__in=comparison.thread_ids).values_list("content", flat=True)
    assert contents
    assert all(json.dumps(content, ensure_ascii=False)[1:-1] in sent for content in contents)
