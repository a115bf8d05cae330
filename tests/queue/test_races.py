"""People and lanes at the same moment: one outcome, and counters that equal the rows."""

import contextlib

import pytest

from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeComparison, JudgeEvaluation, JudgeSession
from judge.selectors.progress import status_counts
from judge.services import control
from judge.services.errors import ActionRefused
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import run_lane
from judge.services.wakeups import RUN_LANE
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.queue.held import held
from tests.queue.threads import beside, together, until

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


LANES = 3


def slow(server: SimulatedServer, latency_ms: float) -> None:
    server.judge.settings = server.judge.settings.__class__(latency_ms=latency_ms, chunks=20)


def assert_counters(session: JudgeSession) -> None:
    """The session's counters equal its rows, and each judged comparison has its one verdict."""
    session.refresh_from_db()
    counts = status_counts(session)
    assert (session.completed_comparisons, session.failed_comparisons) == (counts["completed"], counts["failed"])
    verdicts = JudgeEvaluation.objects.filter(comparison__session=session)
    assert verdicts.count() == verdicts.filter(comparison__status="completed").count() == counts["completed"]


def test_a_pause_lets_a_long_call_end_and_counts_its_verdict(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session()
    with held(server) as release, beside(lambda: run_lane(session.pk, 0), then=release) as lane:
        until(lambda: server.calls == 1, "the call")
        assert control.pause(session.pk).status == SessionStatus.PAUSED
        assert run_lane(session.pk, 1) is False
        assert not lane.done()
    assert_counters(session)
    assert (session.status, session.completed_comparisons, server.calls) == (SessionStatus.PAUSED, 1, 1)


def test_an_abort_during_a_long_call_leaves_no_trace_of_its_answer(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session()
    with held(server) as release, beside(lambda: run_lane(session.pk, 0), then=release):
        until(lambda: server.calls == 1, "the call")
        control.abort(session.pk)
    assert_counters(session)
    assert (session.status, status_counts(session)["pending"]) == (SessionStatus.ABORTED, session.total_comparisons)
    assert JudgeAttempt.objects.get().outcome == "stale_attempt"


def test_an_abort_that_races_completions_takes_each_of_them_or_none(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    """Whichever commits first: a verdict before the abort is counted, one after it is not there at all.

    The last answers are held back until the abort is done, so that however late it comes there is something to abort.
    """
    for latency in (20, 25, 30, 35, 40):
        server.reset()
        slow(server, latency)
        session = make_session(worker_count=LANES, repetitions_per_pair=6)

        def judge(lane: int, session: JudgeSession = session) -> None:
            while run_lane(session.pk, lane):
                pass

        with held(server, after=session.total_comparisons - 2 * LANES) as release, contextlib.ExitStack() as lanes:
            for lane in range(LANES):
                lanes.enter_context(beside(lambda lane=lane: judge(lane)))  # type: ignore[misc]
            lanes.callback(release)
            until(JudgeEvaluation.objects.filter(comparison__session=session).exists, "a verdict")
            control.abort(session.pk)
        assert_counters(session)
        assert session.status == SessionStatus.ABORTED
        assert status_counts(session)["running"] == 0


def test_two_clicks_on_start_wake_each_lane_once(
    make_session: MakeSession, sent_wakeups: list[tuple[str, tuple[int, ...]]]
) -> None:
    session = make_session(is_started=False, worker_count=3)

    def click() -> bool:
        try:
            return control.start(session.pk).status == SessionStatus.QUEUED
        except ActionRefused:
            return False

    assert sorted(together(click, click)) == [False, True]
    assert [ids for task, ids in sent_wakeups if task == RUN_LANE] == [(session.pk, lane) for lane in range(3)]


def test_two_tabs_that_pause_and_resume_at_will_harm_nothing(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    slow(server, 30)
    session = make_session(threads=6, worker_count=3)

    def click() -> None:
        for _ in range(15):
            for action in (control.pause, control.resume):
                with contextlib.suppress(ActionRefused):
                    action(session.pk)

    def judge(lane: int) -> None:
        while not are_done:
            run_lane(session.pk, lane)

    are_done = False
    with contextlib.ExitStack() as lanes:
        for lane in range(3):
            lanes.enter_context(beside(lambda lane=lane: judge(lane)))  # type: ignore[misc]
        together(click, click)
        are_done = True
    assert_counters(session)
    with contextlib.suppress(ActionRefused):
        control.resume(session.pk)
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    assert_counters(session)
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 12)
    assert server.calls == JudgeComparison.objects.filter(session=session).count()
