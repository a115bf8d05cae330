"""What must hold of a session's rows after every single step, read from the database."""

from typing import Any

from judge.domain.states import COMPARISON_MOVES, SESSION_MOVES, ComparisonStatus, SessionStatus
from judge.models import (
    JudgeAttempt,
    JudgeComparison,
    JudgeEvaluation,
    JudgeSession,
    PillarStatistics,
    ResultSnapshot,
    SessionJudge,
    ThreadEloScore,
)
from judge.services.results import rebuild_results
from tests.queue.queue_model import QueueModel, Row

COLUMNS = (
    "queue_position",
    "judge_id",
    "status",
    "claim_token",
    "worker_id",
    "provider_id",
    "provider_slot",
    "attempt_count",
    "lost_leases",
    "error_code",
    "evaluation__pk",
)
SESSION = (
    "session__status",
    "session__status_reason",
    "session__completed_comparisons",
    "session__failed_comparisons",
)


def stored_rows(session_id: int) -> dict[int, tuple[Any, ...]]:
    """The comparisons as they stand."""
    rows = JudgeComparison.objects.filter(session=session_id).order_by("pk").values_list("pk", *COLUMNS)
    return {pk: tuple(values) for pk, *values in rows}


def as_stored(row: Row) -> tuple[Any, ...]:
    """A row of the model, as `stored_rows` would show it but for its verdict."""
    lane = row.lane
    numbers = (row.attempts, row.lost_leases)
    return (row.position, row.judge, row.status, row.token, lane, row.provider, row.slot, *numbers, row.error)


class Watch:
    """Compares the database with the model after each step, and each state with the one before."""

    def __init__(self, session_id: int) -> None:
        self._session_id = session_id
        self._rows = stored_rows(session_id)
        self._status = JudgeSession.objects.get(pk=session_id).status

    def check(self, model: QueueModel) -> None:
        """Everything that must hold now (two queries: there are thousands of steps)."""
        rows = stored_rows(self._session_id)
        judges = list(SessionJudge.objects.filter(session=self._session_id).values_list("pk", "stop_reason", *SESSION))
        status, reason, *counters = judges[0][2:]
        self._check_moves(status, rows)
        assert {pk: row[:-1] for pk, row in rows.items()} == {pk: as_stored(row) for pk, row in model.rows.items()}
        assert (status, reason) == (model.status, model.reason)
        assert {row[0]: row[1] for row in judges if row[1]} == model.stopped
        self._check_counters(counters, rows)
        self._check_lanes(rows, model)
        self._status, self._rows = status, rows

    def _check_moves(self, status: str, rows: dict[int, tuple[Any, ...]]) -> None:
        old = SessionStatus(self._status)
        assert status == old or status in SESSION_MOVES[old], f"a session moved from {old} to {status}"
        for pk, row in rows.items():
            before = ComparisonStatus(self._rows[pk][2])
            assert row[2] == before or row[2] in COMPARISON_MOVES[before], f"{before} became {row[2]}"

    def _check_counters(self, counters: list[int], rows: dict[int, tuple[Any, ...]]) -> None:
        """One verdict for each completed comparison and none for any other; the counters equal the rows."""
        statuses = [row[2] for row in rows.values()]
        assert counters == [statuses.count(ComparisonStatus.COMPLETED), statuses.count(ComparisonStatus.FAILED)]
        assert all((row[-1] is not None) == (row[2] == ComparisonStatus.COMPLETED) for row in rows.values())

    def _check_lanes(self, rows: dict[int, tuple[Any, ...]], model: QueueModel) -> None:
        """Running if and only if leased; lanes and places are distinct and within their limits."""
        for row in rows.values():
            is_running = row[2] == ComparisonStatus.RUNNING
            assert (row[3] is not None, row[5] is not None, row[6] is not None) == (is_running,) * 3
        running = [row for row in rows.values() if row[2] == ComparisonStatus.RUNNING]
        lanes, places = [row[4] for row in running], [(row[5], row[6]) for row in running]
        assert len(set(lanes)) == len(lanes)
        assert all(0 <= lane < model.workers for lane in lanes)
        assert len(set(places)) == len(places)
        assert all(0 <= slot < model.places[provider].allowed for provider, slot in places)


def assert_calls_are_on_record(session_id: int) -> None:
    """Each verdict has its one accepted call, and each accepted call its verdict."""
    accepted = JudgeAttempt.objects.filter(comparison__session=session_id, outcome=JudgeAttempt.ACCEPTED)
    verdicts = JudgeEvaluation.objects.filter(comparison__session=session_id)
    assert sorted(accepted.values_list("comparison_id", flat=True)) == sorted(
        verdicts.values_list("comparison_id", flat=True)
    )


def derived(session_id: int) -> list[list[Any]]:
    """Everything that was computed of a session, without the rows' own numbers and moments."""
    tables: list[list[Any]] = []
    for model, order in ((ThreadEloScore, "thread_id"), (PillarStatistics, "pillar_a_id"), (ResultSnapshot, "kind")):
        unique = {"id", "created_at"}
        names = [field.attname for field in model._meta.concrete_fields if field.attname not in unique]
        rows = model._default_manager.filter(session=session_id).order_by(order)
        tables.append(list(rows.values_list(*names)))
    return tables


def assert_equals_its_rebuild(session_id: int) -> None:
    """What is stored of the results is what the evaluations alone give."""
    stored = derived(session_id)
    rebuild_results(session_id)
    assert derived(session_id) == stored
