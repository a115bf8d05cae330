"""Real workers write large plans, grow adaptive ones, and remove the rows of deleted sessions."""

from multiprocessing.context import ForkServerProcess

import pytest

from judge.models import JudgeComparison, JudgeSession
from judge.services.deletion import delete_session
from judge.services.planning.batches import replanned
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.planning.test_plan_growth import plan_of
from tests.planning.test_plan_writing import planned, written
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import assert_complete, fresh, wait_until_completed

pytestmark = [
    pytest.mark.queue,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


def test_a_large_plan_is_written_and_removed_by_a_worker(
    make_session: MakeSession, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all", threads=25)
    assert (session.total_comparisons, session.planned_comparisons) == (2450, 0)
    start_worker("first")
    wait_for(lambda: fresh(session).is_planned, 60, "the whole plan")
    assert written(session) == planned(session)
    delete_session(session.pk)
    wait_for(lambda: not JudgeSession.objects.filter(pk=session.pk).exists(), 60, "the session's removal")
    assert not JudgeComparison.objects.exists()


def test_two_workers_grow_one_adaptive_plan_that_its_verdicts_give_again(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(
        comparison_mode="adaptive", comparison_budget=100, repetitions_per_pair=2, threads=6, worker_count=4
    )
    for name in ("first", "second"):
        start_worker(name)
    wait_until_completed(session)
    assert_complete(session, server)
    assert fresh(session).completed_comparisons == 100
    assert replanned(session) == plan_of(session)
