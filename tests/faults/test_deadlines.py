"""A model that does not answer in time is cut off and asked again (fault 22)."""

import pytest

from judge.domain.errors import ErrorCode
from judge.llm.client import Limits
from judge.models import JudgeAttempt
from judge.services import deliberation
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.faults.playing import judge_all, one_comparison, outcomes

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

LIMITS = Limits(connect=4, first_token=2.5, silence=0.6, total=3.2)


@pytest.mark.parametrize(
    ("fault", "code", "seconds"),
    [
        ({"kind": "silence", "after": 0}, ErrorCode.TIMEOUT_FIRST_TOKEN, LIMITS.first_token),
        ({"kind": "keepalive_forever", "after": 0}, ErrorCode.TIMEOUT_FIRST_TOKEN, LIMITS.first_token),
        ({"kind": "silence"}, ErrorCode.TIMEOUT_SILENCE, LIMITS.silence),
        ({"kind": "keepalive_forever"}, ErrorCode.TIMEOUT_SILENCE, LIMITS.silence),
        ({"kind": "slow", "latency_ms": 20_000}, ErrorCode.TIMEOUT_TOTAL, LIMITS.total),
    ],
    ids=["no first token", "keep-alives only", "silence", "keep-alives in between", "too slow in all"],
)
def test_a_call_is_cut_at_its_deadline_and_made_again(
    make_session: MakeSession,
    server: SimulatedServer,
    monkeypatch: pytest.MonkeyPatch,
    fault: dict[str, object],
    code: ErrorCode,
    seconds: float,
) -> None:
    monkeypatch.setattr(deliberation, "LIMITS", LIMITS)
    server.judge.settings = server.judge.settings.__class__(first_token_share=0.001)
    server.script({"seconds": 10, **fault})
    session = judge_all(one_comparison(make_session))
    assert session.status == "completed"
    assert (outcomes(session), server.calls) == ([code, "accepted"], 2)
    cut = JudgeAttempt.objects.get(number=1)
    assert cut.latency_ms is not None
    assert abs(cut.latency_ms / 1000 - seconds) < 1
