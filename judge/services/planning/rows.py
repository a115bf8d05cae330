"""Rows of a plan: pairs and their comparisons, added to its end in one transaction per part.

The session's `planned_comparisons` is the guard: of several who write the same part, at the same moment or after one of
them was killed, one is counted, and the others leave nothing behind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import IntegrityError, connection
from django.db.models.functions import Now

from judge.domain.planning import PlanConfig, PlannedPair, plan_comparisons
from judge.domain.states import ComparisonMode, SamplingStrategy, SessionStatus
from judge.models import JudgeComparison, JudgePair, JudgeSession, SessionJudge, SessionThread
from judge.services.transactions import in_transaction
from pillars.models import Pillar

if TYPE_CHECKING:
    from judge.services.planning.configuration import SessionConfig

BATCH = 1000


@dataclass(frozen=True)
class PlanFrame:
    """What a session's plan needs beside its pairs: its configuration, its threads (pillar number -> ids), the ids of
    its judges by position and those of its pillars by number."""

    session_id: int
    config: PlanConfig
    threads: dict[int, list[int]]
    judge_ids: list[int]
    pillar_ids: dict[int, int]


class PlanOvertaken(Exception):
    """Somebody else wrote this part, or the session was aborted or deleted."""


def read_frame(session: JudgeSession) -> PlanFrame:
    """Read the frame of a session from what was frozen at its creation (three queries)."""
    judge_ids = list(SessionJudge.objects.filter(session=session).order_by("position").values_list("pk", flat=True))
    pillar_ids = dict(Pillar.objects.filter(judge_sessions=session).values_list("number", "pk"))
    threads: dict[int, list[int]] = {number: [] for number in pillar_ids}
    rows = SessionThread.objects.filter(session=session).order_by("thread_id")
    for number, thread_id in rows.values_list("pillar__number", "thread_id"):
        threads[number].append(thread_id)
    return PlanFrame(session.pk, plan_config(session, len(judge_ids), session.seed), threads, judge_ids, pillar_ids)


def plan_config(chosen: "JudgeSession | SessionConfig", judge_count: int, seed: int) -> PlanConfig:
    """What of a session, or of a configuration that is to become one, decides its plan."""
    mode = ComparisonMode(chosen.comparison_mode)
    return PlanConfig(
        comparison_mode=mode,
        sampling_strategy=SamplingStrategy(chosen.sampling_strategy),
        samples_per_pillar=chosen.samples_per_pillar,
        repetitions_per_pair=chosen.repetitions_per_pair,
        max_threads_per_pillar=chosen.max_threads_per_pillar,
        comparison_budget=chosen.comparison_budget if mode == ComparisonMode.ADAPTIVE else None,
        position_swap=chosen.position_swap,
        judge_count=judge_count,
        seed=seed,
    )


def append(frame: PlanFrame, pairs: Sequence[PlannedPair], also: Callable[[], object] | None = None) -> bool:
    """Add pairs, which follow one another from the plan's end on, with their comparisons and whatever ``also`` writes.

    Returns False, and leaves everything as it was, when the plan goes on elsewhere by now, or the session was aborted
    or deleted.
    """

    def work() -> None:
        _write(frame, pairs)
        if also is not None:
            also()
        _count(frame, pairs)

    try:
        in_transaction(work)
    except PlanOvertaken:
        return False
    except IntegrityError:
        if not connection.in_atomic_block and _has_moved_on(frame, pairs):
            return False
        raise
    return True


def _write(frame: PlanFrame, pairs: Sequence[PlannedPair]) -> None:
    written = JudgePair.objects.bulk_create((_pair(frame, planned) for planned in pairs), batch_size=BATCH)
    first = pairs[0].queue_order * frame.config.comparisons_per_pair
    JudgeComparison.objects.bulk_create(
        (
            JudgeComparison(
                session_id=frame.session_id,
                pair_id=written[planned.pair_index].pk,
                judge_id=frame.judge_ids[planned.judge_index],
                position_order=planned.position_order,
                queue_position=first + planned.queue_position,
            )
            for planned in plan_comparisons(frame.config, len(pairs))
        ),
        batch_size=BATCH,
    )


def _count(frame: PlanFrame, pairs: Sequence[PlannedPair]) -> None:
    """Move the plan's end. The session's row is locked last, for the length of a commit: lanes count in it too."""
    before = pairs[0].queue_order * frame.config.comparisons_per_pair
    session = JudgeSession.objects.kept().filter(pk=frame.session_id, planned_comparisons=before)
    after = before + len(pairs) * frame.config.comparisons_per_pair
    if not session.exclude(status=SessionStatus.ABORTED).update(planned_comparisons=after, plan_written_at=Now()):
        raise PlanOvertaken


def _has_moved_on(frame: PlanFrame, pairs: Sequence[PlannedPair]) -> bool:
    """Whether a unique or foreign key refused the rows because they are there already or their session is not."""
    before = pairs[0].queue_order * frame.config.comparisons_per_pair
    return not JudgeSession.objects.filter(pk=frame.session_id, planned_comparisons=before).exists()


def _pair(frame: PlanFrame, planned: PlannedPair) -> JudgePair:
    return JudgePair(
        session_id=frame.session_id,
        repetition=planned.repetition,
        queue_order=planned.queue_order,
        thread_a_id=planned.thread_a,
        thread_b_id=planned.thread_b,
        pillar_a_id=frame.pillar_ids[planned.pillar_a],
        pillar_b_id=frame.pillar_ids[planned.pillar_b],
    )
