"""Plans in the database: small ones at creation, large ones by a worker, part by part, each row once."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from judge.domain.errors import ErrorCode
from judge.domain.planning import PlannedPair, plan_comparisons, plan_pairs
from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgePair, JudgeSession, SessionThread
from judge.services import control, queue, recovery
from judge.services.deletion import delete_session
from judge.services.errors import ConfigRefused
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import run_lane
from judge.services.leases import STOPPING
from judge.services.planning import writing
from judge.services.planning.rows import append, read_frame
from judge.services.planning.writing import unwritten, write_for_a_while
from judge.services.stopping import pause_if_stuck, stop_judge
from pillars.models import EmailThread, PillarThread
from tests.conftest import MakeSession
from tests.factories import JudgeModelFactory
from tests.pillars.factories import EmailThreadFactory
from tests.queue.threads import together

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

Sent = list[tuple[str, tuple[int, ...]]]
PART = 16


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans of more than 20 comparisons are large, and written in parts of 16."""
    monkeypatch.setattr(writing, "AT_ONCE", 20)
    monkeypatch.setattr(writing, "PART", PART)


def written(session: JudgeSession) -> tuple[list[PlannedPair], list[tuple[int, int, int, int]]]:
    """Pairs and comparisons as they stand in the database, in the planner's words."""
    columns = ("queue_order", "repetition", "thread_a", "thread_b", "pillar_a__number", "pillar_b__number")
    pairs = JudgePair.objects.filter(session=session).order_by("queue_order").values_list(*columns)
    rows = JudgeComparison.objects.filter(session=session).order_by("queue_position")
    columns = ("pair__queue_order", "judge__position", "position_order", "queue_position")
    return [PlannedPair(*row) for row in pairs], list(rows.values_list(*columns))


def planned(session: JudgeSession) -> tuple[list[PlannedPair], list[tuple[int, int, int, int]]]:
    """The same as the planner has it."""
    frame = read_frame(session)
    pairs = list(plan_pairs(frame.config, frame.threads))
    rows = plan_comparisons(frame.config, len(pairs))
    return pairs, [(row.pair_index, row.judge_index, row.position_order, row.queue_position) for row in rows]


MODES = [
    {"comparison_mode": "pillar_sample", "samples_per_pillar": 4, "repetitions_per_pair": 3},
    {"comparison_mode": "pillar_sample", "sampling_strategy": "bootstrap", "repetitions_per_pair": 2},
    {"comparison_mode": "pillar_sample", "sampling_strategy": "proportional", "samples_per_pillar": 2},
    {"comparison_mode": "round_robin", "position_swap": False},
    {"comparison_mode": "round_robin", "repetitions_per_pair": 2},
    {"comparison_mode": "free_for_all"},
    {"comparison_mode": "free_for_all", "max_threads_per_pillar": 3},
]


@pytest.mark.parametrize("choices", MODES)
def test_a_small_plan_is_written_with_its_session(make_session: MakeSession, choices: dict[str, object]) -> None:
    session = make_session(is_started=False, **choices)
    assert session.is_planned
    assert written(session) == planned(session)
    assert len(written(session)[1]) == session.total_comparisons


@pytest.mark.parametrize("choices", [{}, {"position_swap": False}, {"threads": 5}])
def test_a_large_plan_is_the_same_written_part_by_part(
    make_session: MakeSession, in_parts: None, sent_wakeups: Sent, choices: dict[str, object]
) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all", **choices)
    assert (session.planned_comparisons, JudgePair.objects.filter(session=session).count()) == (0, 0)
    assert sent_wakeups == [("judge.write_plan", (session.pk,))]
    turns = 1
    while write_for_a_while(session.pk, seconds=0):
        turns += 1
    session.refresh_from_db()
    assert turns >= session.total_comparisons // PART
    assert session.is_planned
    assert written(session) == planned(session)


def test_several_writers_at_once_write_each_row_once(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all", threads=6)
    together(*[lambda: write_for_a_while(session.pk)] * 3)
    write_for_a_while(session.pk)
    assert written(session) == planned(session)


def test_a_writer_that_dies_in_a_part_leaves_nothing_of_it(
    make_session: MakeSession, in_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all")
    write_for_a_while(session.pk, seconds=0)
    session.refresh_from_db()
    frame, before = read_frame(session), session.planned_comparisons
    rest = list(plan_pairs(frame.config, frame.threads))[before // frame.config.comparisons_per_pair :]

    def dies() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        append(frame, rest[:4], dies)
    assert JudgeComparison.objects.filter(session=session).count() == before
    while write_for_a_while(session.pk, seconds=0):
        pass
    assert written(session) == planned(session)


def test_recovery_asks_again_for_a_plan_without_writer(
    make_session: MakeSession, in_parts: None, sent_wakeups: Sent
) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all")
    sent_wakeups.clear()
    recovery.recover()
    assert sent_wakeups == [], "its writer has just been asked for"
    long_ago = timezone.now() - timedelta(seconds=writing.LOST_AFTER + 5)
    JudgeSession.objects.filter(pk=session.pk).update(plan_written_at=long_ago)
    recovery.recover()
    assert sent_wakeups == [("judge.write_plan", (session.pk,))]


def test_an_abort_ends_the_writing(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all")
    write_for_a_while(session.pk, seconds=0)
    control.abort(session.pk)
    session.refresh_from_db()
    assert not write_for_a_while(session.pk)
    frame = read_frame(session)
    pairs = list(plan_pairs(frame.config, frame.threads))
    start = session.planned_comparisons // 2
    assert not append(frame, pairs[start : start + 4]), "a part that was planned just before"
    assert JudgeComparison.objects.filter(session=session).count() == session.planned_comparisons == PART
    assert not unwritten().exists()


def test_a_session_may_be_deleted_while_its_plan_is_written(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all")
    write_for_a_while(session.pk, seconds=0)
    frame = read_frame(session)
    pairs = list(plan_pairs(frame.config, frame.threads))[PART // 2 :]
    delete_session(session.pk)
    assert not append(frame, pairs[:4])
    assert not write_for_a_while(session.pk)
    assert not JudgePair.objects.exists()


def test_lanes_judge_the_first_parts_while_the_rest_is_written(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(comparison_mode="free_for_all", worker_count=2)
    assert not run_lane(session.pk, 0), "nothing is written yet"
    assert write_for_a_while(session.pk, seconds=0)
    while run_lane(session.pk, 0):
        pass
    session.refresh_from_db()
    assert session.completed_comparisons == session.planned_comparisons == PART
    assert recovery.wake_idle_lanes(session) == 0
    session.refresh_from_db()
    assert session.status == SessionStatus.RUNNING, "there is more to come"
    while write_for_a_while(session.pk, seconds=0):
        pass
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 56)


def test_a_session_does_not_pause_for_one_judge_while_work_for_another_is_being_written(
    make_session: MakeSession, in_parts: None
) -> None:
    judges = [JudgeModelFactory(), JudgeModelFactory()]
    choices = {"comparison_mode": "free_for_all", "judge_model_ids": tuple(judge.pk for judge in judges)}
    session = make_session(**choices)
    assert write_for_a_while(session.pk, seconds=0)
    stop_judge(session.session_judges.get(model=judges[0]).pk, ErrorCode.UNAUTHORIZED)
    while claimed := queue.claim(session.pk, 0):
        queue.fail(claimed, ErrorCode.REFUSED)
    assert not pause_if_stuck(session.pk)
    while write_for_a_while(session.pk, seconds=0):
        pass
    while claimed := queue.claim(session.pk, 0):
        queue.fail(claimed, ErrorCode.REFUSED)
    assert pause_if_stuck(session.pk), "nothing but comparisons of the stopped judge is left"


def test_whoever_judges_in_this_process_writes_the_plan_too(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(comparison_mode="free_for_all")
    deadline = time.monotonic() + 60
    for progress in judge_in_foreground(session.pk, every_seconds=0.05):
        assert time.monotonic() < deadline, progress
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 56)


def test_a_worker_that_is_to_end_stops_writing(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all")
    STOPPING.set()
    assert not write_for_a_while(session.pk)
    session.refresh_from_db()
    assert session.planned_comparisons == 0


def test_what_happens_to_a_pillar_later_changes_no_plan(make_session: MakeSession, in_parts: None) -> None:
    session = make_session(is_started=False, comparison_mode="free_for_all")
    expected = planned(session)
    assert SessionThread.objects.filter(session=session).count() == 8
    leaver = EmailThread.objects.order_by("pk").first()
    PillarThread.objects.filter(thread=leaver).delete()
    EmailThreadFactory(pillar=session.pillars.first())
    while write_for_a_while(session.pk, seconds=0):
        pass
    assert written(session) == expected


def test_no_worker_writes_the_plan_of_an_adaptive_session(make_session: MakeSession) -> None:
    session = make_session(comparison_mode="adaptive", comparison_budget=40, threads=5)
    assert not write_for_a_while(session.pk)
    session.refresh_from_db()
    assert 0 < session.planned_comparisons < 40


def test_a_plan_above_the_ceiling_is_written_only_when_it_is_confirmed(
    make_session: MakeSession, settings: object
) -> None:
    settings.JUDGE_CONFIRM_ABOVE = 50  # type: ignore[attr-defined]
    with pytest.raises(ConfigRefused) as refused:
        make_session(is_started=False, comparison_mode="free_for_all")
    assert list(refused.value.errors) == ["confirm_large_plan"]
    assert not JudgeSession.objects.exists()
    assert (
        make_session(is_started=False, comparison_mode="free_for_all", confirm_large_plan=True).total_comparisons == 56
    )


def test_a_plan_that_no_session_can_hold_is_refused_confirmed_or_not(
    make_session: MakeSession, settings: object
) -> None:
    settings.JUDGE_MAX_COMPARISONS = 50  # type: ignore[attr-defined]
    for mode, field in (("free_for_all", "max_threads_per_pillar"), ("pillar_sample", "samples_per_pillar")):
        with pytest.raises(ConfigRefused) as refused:
            make_session(is_started=False, comparison_mode=mode, repetitions_per_pair=9, confirm_large_plan=True)
        assert list(refused.value.errors) == [field]
    assert not JudgeSession.objects.exists()
