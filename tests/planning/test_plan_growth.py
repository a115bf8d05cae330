"""An adaptive session's plan grows with its verdicts, and seed and verdicts alone decide it."""

from collections import Counter
from itertools import pairwise

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.planning import PlannedPair
from judge.domain.states import ComparisonStatus, PlanEnd, SessionStatus
from judge.models import JudgeComparison, JudgeEvaluation, JudgePair, JudgeSession, PlanBatch
from judge.services import control, queue, recovery
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import run_lane
from judge.services.planning import batches, growth
from judge.services.planning.batches import replanned
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.queue.held import held
from tests.queue.threads import beside, together, until

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

Sent = list[tuple[str, tuple[int, ...]]]
ADAPTIVE = {"comparison_mode": "adaptive", "repetitions_per_pair": 2}


def plan_of(session: JudgeSession) -> list[PlannedPair]:
    """The plan as it is written."""
    columns = ("queue_order", "repetition", "thread_a", "thread_b", "pillar_a__number", "pillar_b__number")
    rows = JudgePair.objects.filter(session=session).order_by("queue_order").values_list(*columns)
    return [PlannedPair(*row) for row in rows]


def judge_all(session: JudgeSession) -> JudgeSession:
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    return session


def test_the_budget_is_spent_in_batches_that_the_verdicts_decide(make_session: MakeSession) -> None:
    session = judge_all(make_session(**ADAPTIVE, threads=5, comparison_budget=80, worker_count=4))
    assert (session.status, session.completed_comparisons, session.total_comparisons) == ("completed", 80, 80)
    plan = plan_of(session)
    assert len(plan) == 40
    assert replanned(session) == plan
    meetings = Counter((min(row.thread_a, row.thread_b), max(row.thread_a, row.thread_b)) for row in plan)
    assert max(meetings.values()) <= 2
    planned = list(PlanBatch.objects.filter(session=session))
    assert len(planned) >= 5
    assert [batch.first_pair + batch.pair_count for batch in planned[:-1]] == [row.first_pair for row in planned[1:]]
    positions = JudgeComparison.objects.filter(session=session).values_list("queue_position", flat=True)
    assert sorted(positions) == list(range(80))


def test_other_verdicts_give_another_plan(make_session: MakeSession) -> None:
    session = judge_all(make_session(**ADAPTIVE, threads=5, comparison_budget=60))
    evaluations = JudgeEvaluation.objects.filter(comparison__session=session, comparison__pair__queue_order__lt=3)
    for evaluation in evaluations:
        evaluation.winner = {"A": "B", "B": "A", "TIE": "TIE"}[evaluation.winner]
        evaluation.save(update_fields=["winner"])
    assert replanned(session) != plan_of(session)


def test_the_next_batch_waits_for_no_comparison_of_the_newest_one(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    session = make_session(**ADAPTIVE, threads=5, comparison_budget=80, worker_count=2)
    first = PlanBatch.objects.get(session=session)
    per_pair = session.planned_comparisons // first.pair_count
    while JudgeComparison.objects.filter(session=session, status=ComparisonStatus.PENDING).count() > 1:
        assert run_lane(session.pk, 0)
    # Nothing is older than the first batch: the second is chosen without waiting for it.
    with held(server, after=server.calls) as release, beside(lambda: run_lane(session.pk, 0), then=release):
        until(lambda: server.calls == per_pair * first.pair_count, "the last call of the first batch")
        assert not JudgeComparison.objects.filter(session=session, status=ComparisonStatus.PENDING).exists()
        assert run_lane(session.pk, 1)
        assert PlanBatch.objects.filter(session=session).count() == 2
        # The third needs the verdicts of the first, of which one is still open.
        JudgeComparison.objects.filter(session=session, status=ComparisonStatus.PENDING).delete()
        assert not run_lane(session.pk, 1)
        assert PlanBatch.objects.filter(session=session).count() == 2


def test_of_lanes_that_plan_at_the_same_moment_one_is_counted(make_session: MakeSession) -> None:
    session = make_session(**ADAPTIVE, threads=5, comparison_budget=80)
    planned = session.planned_comparisons
    while JudgeComparison.objects.filter(session=session, status=ComparisonStatus.PENDING).exists():
        run_lane(session.pk, 0)
    assert together(*[lambda: growth.grow(session.pk)] * 4) != [False] * 4
    session.refresh_from_db()
    second = PlanBatch.objects.get(session=session, number=2)
    assert PlanBatch.objects.filter(session=session).count() == 2
    rows = JudgeComparison.objects.filter(session=session).count()
    assert rows == session.planned_comparisons == planned + 2 * second.pair_count


def test_a_batch_that_another_lane_plans_in_between_is_not_followed_by_one_too_early(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(**ADAPTIVE, threads=6, comparison_budget=120)
    waiting = JudgeComparison.objects.filter(session=session, status=ComparisonStatus.PENDING)
    while waiting.exists():
        run_lane(session.pk, 0)
    assert growth.grow(session.pk)
    while waiting.count() > 1:
        run_lane(session.pk, 0)
    assert queue.claim(session.pk, 1), "the second batch is still being judged"
    is_due = growth.is_due

    def and_then_another_lane_plans(session_id: int) -> bool:
        due = is_due(session_id)
        monkeypatch.setattr(growth, "is_due", is_due)
        assert growth.grow(session_id)
        return due

    monkeypatch.setattr(growth, "is_due", and_then_another_lane_plans)
    assert growth.grow(session.pk), "there is something to judge"
    assert [batch.open_pairs for batch in PlanBatch.objects.filter(session=session)] == [[], [], []]


def test_failed_pairs_are_noted_so_that_a_retry_changes_no_plan(
    make_session: MakeSession, server: SimulatedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(**ADAPTIVE, threads=5, comparison_budget=60)
    claimed = queue.claim(session.pk, 0)
    assert claimed is not None
    queue.fail(claimed, ErrorCode.POISON)
    judge_all(session)
    lost = JudgePair.objects.get(comparisons=claimed.comparison_id).queue_order
    noted = [lost in batch.open_pairs for batch in PlanBatch.objects.filter(session=session)]
    assert noted[:2] == [False, False]
    assert all(noted[2:]), "chosen without the outcome of the failed pair"
    control.retry_failed(session.pk)
    session = judge_all(session)
    assert (session.completed_comparisons, session.failed_comparisons) == (60, 0)
    assert replanned(session) == plan_of(session)


def test_it_ends_before_the_budget_when_all_neighbours_are_told_apart(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "is_settled", lambda standing: len(standing.matches) >= 8)
    session = judge_all(make_session(**ADAPTIVE, threads=5, comparison_budget=80))
    assert (session.status, session.plan_end) == (SessionStatus.COMPLETED, PlanEnd.SEPARATED)
    assert session.completed_comparisons == session.total_comparisons == session.planned_comparisons < 80
    assert session.is_planned
    assert replanned(session)[: len(plan_of(session))] == plan_of(session)


def test_a_budget_for_more_than_all_pairs_is_no_larger_than_they_are(make_session: MakeSession) -> None:
    session = make_session(comparison_mode="adaptive", threads=3, comparison_budget=10_000, position_swap=False)
    assert session.total_comparisons == 15
    session = judge_all(session)
    assert (session.status, session.completed_comparisons) == ("completed", 15)
    assert len({frozenset((row.thread_a, row.thread_b)) for row in plan_of(session)}) == 15


def test_recovery_wakes_a_lane_for_a_plan_that_should_go_on(make_session: MakeSession, sent_wakeups: Sent) -> None:
    session = make_session(**ADAPTIVE, threads=5, comparison_budget=80)
    while JudgeComparison.objects.filter(session=session, status=ComparisonStatus.PENDING).exists():
        run_lane(session.pk, 0)
    sent_wakeups.clear()
    recovery.recover()
    assert [ids for task, ids in sent_wakeups if task == "judge.run_lane"] == [(session.pk, 0)]
    JudgeSession.objects.filter(pk=session.pk).update(status=SessionStatus.PAUSED)
    sent_wakeups.clear()
    recovery.recover()
    assert not [ids for task, ids in sent_wakeups if task == "judge.run_lane"]


def test_swap_twins_are_never_neighbours_in_a_plan_that_grows(make_session: MakeSession) -> None:
    session = judge_all(make_session(**ADAPTIVE, threads=6, comparison_budget=82))
    rows = JudgeComparison.objects.filter(session=session).order_by("queue_position").values_list("pair", flat=True)
    assert all(before != after for before, after in pairwise(rows))
