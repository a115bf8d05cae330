"""A lane that waits for its provider lets go at once when it is told to: nothing is counted, nothing is called."""

import time

import pytest

from judge.models import JudgeComparison, JudgeModel, JudgeSession
from judge.services import control, leases
from judge.services.lanes import run_lane
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.faults.playing import limit, outcomes
from tests.queue.threads import beside, until

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


def wait_for_the_rate(session: JudgeSession, server: SimulatedServer, model: JudgeModel) -> None:
    limit(model, requests_per_minute=1)
    run_lane(session.pk, 1)


def wait_through_a_rest(session: JudgeSession, server: SimulatedServer, model: JudgeModel) -> None:
    server.script({"kind": "status", "status": 429, "retry_after": "60"})


def wait_after_an_error(session: JudgeSession, server: SimulatedServer, model: JudgeModel) -> None:
    server.script({"kind": "status", "status": 503, "retry_after": "60"})


@pytest.mark.parametrize("action", ["pause", "abort", "end"])
@pytest.mark.parametrize("begin", [wait_for_the_rate, wait_through_a_rest, wait_after_an_error])
def test_a_waiting_lane_gives_its_comparison_back_uncounted(
    make_session: MakeSession,
    server: SimulatedServer,
    model: JudgeModel,
    monkeypatch: pytest.MonkeyPatch,
    begin: object,
    action: str,
) -> None:
    monkeypatch.setattr(leases, "LOOK_EVERY", 0.2)
    session = make_session(worker_count=2)
    begin(session, server, model)  # type: ignore[operator]
    with beside(lambda: run_lane(session.pk, 0)) as lane:
        until(lambda: server.calls == 1, "the call")
        until(lambda: JudgeComparison.objects.filter(session=session, status="running").exists(), "the claim")
        before = len(outcomes(session))
        time.sleep(0.3)
        assert not lane.done()
        if action == "end":
            leases.STOPPING.set()
        else:
            getattr(control, action)(session.pk)
        lane.result(30)
    assert server.calls == before == 1
    waiting = JudgeComparison.objects.filter(session=session).exclude(status="completed")
    assert set(waiting.values_list("status", flat=True)) == {"pending"}
    # An aborted session is not judged again, so its count says what happened: it was taken.
    assert set(waiting.values_list("attempt_count", flat=True)) == ({0} if action != "abort" else {0, 1})
