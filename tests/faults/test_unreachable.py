"""Nobody answers at a provider: retried, then left alone until a probe finds it back (fault 21)."""

from typing import Any

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import JudgeModel, JudgeSession, SessionJudge
from judge.selectors.health import health
from judge.selectors.progress import status_counts
from judge.services import breaker, control, leases, queue
from judge.services.lanes import run_lane
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.conftest import MakeSession
from tests.faults.playing import (
    HangingUp,
    Wakeups,
    beat,
    half_a_minute_later,
    judge_all,
    judge_at,
    move,
    outcomes,
    reason,
    state,
    untouched,
)

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

UNREACHABLE = (SessionStatus.PAUSED, ErrorCode.CONNECTION_FAILED)
TROUBLED = (SessionStatus.PAUSED, ErrorCode.SERVER_ERROR)


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long lanes wait, in seconds; nobody really does."""
    waited: list[float] = []
    monkeypatch.setattr(leases.Lease, "wait", lambda self, seconds: waited.append(seconds))
    return waited


@pytest.mark.parametrize("kind", ["refused", "DNS", "TLS"])
def test_five_failures_to_connect_in_a_row_pause_the_session_and_cost_no_attempt(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel, delays: list[float], kind: str
) -> None:
    with HangingUp() as gone:
        pass
    addresses = {
        "refused": gone.base_url,
        "DNS": "https://judge.invalid/v1",
        "TLS": server.base_url.replace("http:", "https:"),
    }
    session = make_session(worker_count=1)
    move(model, addresses[kind])
    run_lane(session.pk, 0)
    assert outcomes(session) == [ErrorCode.CONNECTION_FAILED] * 5
    assert reason(session) == UNREACHABLE
    assert untouched(session)
    assert run_lane(session.pk, 0) is False
    assert [cause.code for cause in health(session).causes] == ["paused_until_back", "breaker_open"]
    # The delay doubles, and its upper half is left to chance.
    assert len(delays) == 4
    assert all(0.5 <= delay / (0.02 * 2**number) <= 1 for number, delay in enumerate(delays))
    assert len({delay / 2**number for number, delay in enumerate(delays)}) == 4


def test_an_open_breaker_lets_one_probe_through_at_a_time_and_the_session_goes_on_by_itself(
    make_session: MakeSession, model: JudgeModel, sent_wakeups: Wakeups
) -> None:
    with HangingUp() as gone:
        move(model, gone.base_url)
        session = make_session(worker_count=1, threads=2)
        run_lane(session.pk, 0)
        assert (gone.connections, reason(session)) == (5, UNREACHABLE)
        beat(sent_wakeups)
        assert gone.connections == 5  # the half minute begins with the opening
        for probes in (1, 2):
            half_a_minute_later(model.provider_id)
            for _ in range(3):
                beat(sent_wakeups)
            assert gone.connections == 5 + probes
        assert reason(session) == UNREACHABLE
    with SimulatedServer(SimulatedSettings(), port=gone.port) as back:
        half_a_minute_later(model.provider_id)
        beat(sent_wakeups)
        assert (back.listings, back.calls) == (1, 0)
        assert reason(session) == (SessionStatus.QUEUED, "")
        assert judge_all(session).status == SessionStatus.COMPLETED
        assert (back.listings, back.calls) == (1, session.total_comparisons)


def test_a_session_that_a_person_paused_stays_paused_when_its_provider_is_back(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel, sent_wakeups: Wakeups
) -> None:
    waiting, paused = make_session(worker_count=1), make_session(worker_count=1)
    with HangingUp() as gone:
        move(model, gone.base_url)
        control.pause(paused.pk)
        run_lane(waiting.pk, 0)
    move(model, server.base_url)
    half_a_minute_later(model.provider_id)
    beat(sent_wakeups)
    assert server.listings == 1
    assert reason(waiting) == (SessionStatus.QUEUED, "")
    assert reason(paused) == (SessionStatus.PAUSED, "")


def test_twenty_server_errors_in_a_row_open_the_breaker_too(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    server.script(rules=[{"kind": "status", "status": 503}])
    session = make_session(worker_count=1)
    while run_lane(session.pk, 0):
        pass
    assert server.calls == 20
    assert set(outcomes(session)) == {ErrorCode.SERVER_ERROR}
    assert reason(session) == TROUBLED
    # Three comparisons had their six calls; the fourth goes back.
    assert status_counts(session) == {"pending": 5, "running": 0, "completed": 0, "failed": 3}


@pytest.mark.parametrize("first", ["connection", "server"])
def test_a_provider_on_trial_gets_one_call_at_a_time_and_one_failure_ends_the_trial(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel, first: str
) -> None:
    sessions = [make_session(worker_count=5), make_session(worker_count=5)]
    if first == "connection":
        with HangingUp() as gone:
            move(model, gone.base_url)
            run_lane(sessions[0].pk, 0)
        move(model, server.base_url)
    else:
        server.script(rules=[{"kind": "status", "status": 500}])
        while run_lane(sessions[0].pk, 0):
            pass
    server.script(rules=[{"kind": "status", "status": 500}])
    half_a_minute_later(model.provider_id)
    assert breaker.probe(model.provider_id) is True
    assert [reason(session)[0] for session in sessions] == [SessionStatus.QUEUED] * 2
    on_trial = queue.claim(sessions[0].pk, 0)
    assert on_trial is not None
    assert [queue.claim(session.pk, lane) for session in sessions for lane in (1, 2)] == [None] * 4
    queue.release(on_trial)
    calls = server.calls
    run_lane(sessions[1].pk, 0)
    assert server.calls == calls + 1
    assert [reason(session) for session in sessions] == [TROUBLED] * 2


def test_a_success_ends_the_trial_and_single_failures_are_retried_again(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    session = make_session(worker_count=1)
    with HangingUp() as gone:
        move(model, gone.base_url)
        run_lane(session.pk, 0)
    move(model, server.base_url)
    half_a_minute_later(model.provider_id)
    breaker.probe(model.provider_id)
    server.script("ok", {"kind": "status", "status": 500}, "ok")
    run_lane(session.pk, 0)
    run_lane(session.pk, 0)
    assert outcomes(session)[5:] == ["accepted", ErrorCode.SERVER_ERROR, "accepted"]
    assert state(model.provider_id).breaker_reason == ""


def test_whoever_resumes_the_session_need_not_wait_for_the_probe(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    session = make_session(worker_count=2, threads=2)
    with HangingUp() as gone:
        move(model, gone.base_url)
        judge_all(session)
    assert reason(session) == UNREACHABLE
    move(model, server.base_url)
    control.resume(session.pk)
    assert judge_all(session).status == SessionStatus.COMPLETED
    assert (server.calls, server.listings) == (session.total_comparisons, 0)


def test_a_judge_at_another_provider_goes_on_and_then_the_session_pauses_with_the_reason(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    with HangingUp() as gone:
        other = judge_at(gone.base_url)
        session: JudgeSession = make_session(worker_count=2, judge_model_ids=(model.pk, other.pk))
        judge_all(session)
    assert reason(session) == UNREACHABLE
    stopped: dict[int, Any] = dict(SessionJudge.objects.filter(session=session).values_list("model", "stop_reason"))
    assert stopped == {model.pk: "", other.pk: ErrorCode.CONNECTION_FAILED}
    assert status_counts(session) == {"pending": 8, "running": 0, "completed": 8, "failed": 0}
    assert server.calls == 8
    assert state(other.provider_id).breaker_reason == ErrorCode.CONNECTION_FAILED
