"""What is deleted while lanes judge it: they stop within seconds, and nothing is left of it."""

import time
from collections.abc import Callable

import pytest
from django.db.models import ProtectedError

from judge.domain.errors import ErrorCode
from judge.models import (
    CriterionScore,
    JudgeAttempt,
    JudgeComparison,
    JudgeEvaluation,
    JudgePair,
    JudgeSession,
    ResultSnapshot,
    SessionJudge,
    ThreadEloScore,
)
from judge.services import control, leases, queue
from judge.services.deletion import delete_session
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import run_lane
from judge.services.leases import keeper
from judge.services.results import refresh_results
from judge.simulated.server import SimulatedServer
from pillars.models import EmailThread
from tests.conftest import MakeSession
from tests.queue.held import held
from tests.queue.test_claims import taken
from tests.queue.threads import beside, until

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

LANES = 4
OF_A_SESSION = (
    JudgeSession,
    SessionJudge,
    JudgePair,
    JudgeComparison,
    JudgeAttempt,
    JudgeEvaluation,
    CriterionScore,
    ThreadEloScore,
    ResultSnapshot,
)
# Far sooner than its answer is there. How often a lane looks (promised: at least every 2.5 s) is tested elsewhere.
STOPS_WITHIN = 30.0


def assert_nothing_left() -> None:
    assert {model.__name__: model.objects.count() for model in OF_A_SESSION if model.objects.exists()} == {}


def delete_at_once(session: JudgeSession) -> None:
    """As the administrator's shell would."""
    JudgeSession.objects.filter(pk=session.pk).delete()


def abort_and_delete(session: JudgeSession) -> None:
    """As a researcher would."""
    control.abort(session.pk)
    delete_session(session.pk)


@pytest.mark.parametrize("delete", [delete_at_once, abort_and_delete])
def test_lanes_of_a_deleted_session_stop_without_waiting_for_their_answers(
    make_session: MakeSession,
    server: SimulatedServer,
    monkeypatch: pytest.MonkeyPatch,
    delete: Callable[[JudgeSession], None],
) -> None:
    monkeypatch.setattr(leases, "LOOK_EVERY", 0.3)
    server.judge.settings = server.judge.settings.__class__(latency_ms=120_000, chunks=1200)
    session = make_session(worker_count=2)
    with beside(lambda: run_lane(session.pk, 0)) as first, beside(lambda: run_lane(session.pk, 1)) as second:
        until(lambda: server.calls == 2, "two calls")
        began = time.monotonic()
        delete(session)
        for lane in (first, second):
            lane.result(STOPS_WITHIN)
    assert time.monotonic() - began < STOPS_WITHIN
    assert_nothing_left()
    assert run_lane(session.pk, 0) is False


def test_a_session_deleted_while_its_lanes_write_leaves_no_orphans(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=10, chunks=2)
    for _ in range(3):
        server.reset()
        session = make_session(threads=6, repetitions_per_pair=4, worker_count=LANES)

        def judge(session: JudgeSession = session) -> None:
            for _ in judge_in_foreground(session.pk, every_seconds=0.02):
                if JudgeEvaluation.objects.filter(comparison__session=session).exists():
                    break  # the lanes go on until the session is gone

        # The last answers are held back, so that however late the abort comes there is something to abort.
        after = session.total_comparisons - 2 * LANES
        with held(server, after=after) as release, beside(judge, then=release):
            until(JudgeEvaluation.objects.exists, "a verdict")
            abort_and_delete(session)
        assert_nothing_left()


def test_an_answer_to_a_session_that_is_gone_is_thrown_away_quietly(
    make_session: MakeSession, server: SimulatedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer is no verdict, so the lane is about to write down that it asks again."""
    server.script(rules=[{"kind": "bad_winner"}])
    session = make_session()
    with held(server) as release, beside(lambda: run_lane(session.pk, 0), then=release):
        until(lambda: server.calls == 1, "the call")
        delete_at_once(session)
    assert_nothing_left()
    assert "lane_failed" not in caplog.text


def test_a_claim_whose_session_is_gone_before_its_first_call_ends_quietly(
    make_session: MakeSession, caplog: pytest.LogCaptureFixture
) -> None:
    session = make_session()
    claimed = taken(session)
    delete_at_once(session)
    assert queue.extend([claimed.token]) == set()
    assert queue.fail(claimed, ErrorCode.REFUSED) is False
    assert queue.release(claimed) is False
    assert refresh_results(session.pk) is False
    assert_nothing_left()


def test_a_thread_that_stands_in_a_plan_cannot_be_deleted_and_its_session_goes_on(make_session: MakeSession) -> None:
    session = make_session(threads=2)
    run_lane(session.pk, 0)
    for thread in EmailThread.objects.all():
        with pytest.raises(ProtectedError):
            thread.delete()
    with pytest.raises(ProtectedError):
        EmailThread.objects.all().delete()
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons) == ("completed", session.total_comparisons)


def test_the_keeper_forgets_every_claim_that_has_ended(make_session: MakeSession) -> None:
    run_lane(make_session().pk, 0)
    assert keeper._leases == {}
