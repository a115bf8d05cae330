"""A model that does not answer in time is cut off and asked again (fault 22)."""

from dataclasses import replace

import pytest

from judge.domain.errors import ErrorCode
from judge.models import JudgeAttempt
from judge.services import deliberation, leases
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.faults.playing import judge_all, one_comparison, outcomes

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

SECONDS = 0.5


@pytest.mark.parametrize(
    ("fault", "code", "short"),
    [
        ({"kind": "silence", "after": 0}, ErrorCode.TIMEOUT_FIRST_TOKEN, "first_token"),
        ({"kind": "keepalive_forever", "after": 0}, ErrorCode.TIMEOUT_FIRST_TOKEN, "first_token"),
        ({"kind": "silence"}, ErrorCode.TIMEOUT_SILENCE, "silence"),
        ({"kind": "keepalive_forever"}, ErrorCode.TIMEOUT_SILENCE, "silence"),
        ({"kind": "slow", "latency_ms": 60_000}, ErrorCode.TIMEOUT_TOTAL, "total"),
    ],
    ids=["no first token", "keep-alives only", "silence", "keep-alives in between", "too slow in all"],
)
def test_a_call_is_cut_at_its_deadline_and_made_again(
    make_session: MakeSession,
    server: SimulatedServer,
    monkeypatch: pytest.MonkeyPatch,
    fault: dict[str, object],
    code: ErrorCode,
    short: str,
) -> None:
    """The first call has one short limit, which alone can cut it; the second has all the time it needs."""
    limits = deliberation.LIMITS
    monkeypatch.setattr(deliberation, "LIMITS", replace(limits, **{short: SECONDS}))
    monkeypatch.setattr(leases.Lease, "wait", lambda lease, seconds: setattr(deliberation, "LIMITS", limits))
    server.judge.settings = server.judge.settings.__class__(first_token_share=0.001)
    server.script({"seconds": 30, **fault})
    session = judge_all(one_comparison(make_session))
    assert session.status == "completed"
    assert (outcomes(session), server.calls) == ([code, "accepted"], 2)
    cut = JudgeAttempt.objects.get(number=1)
    assert cut.latency_ms is not None
    assert SECONDS - 0.05 <= cut.latency_ms / 1000 < 20
