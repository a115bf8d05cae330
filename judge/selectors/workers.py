"""What the lanes are doing right now, in numbers: for the API's workers list and the socket's judge:workers_status."""

from dataclasses import dataclass

from judge.models import JudgeComparison, JudgeSession


@dataclass(frozen=True)
class WorkerState:
    """One lane: ``status`` is "running" with the comparison it judges, or "idle" with none."""

    worker_id: int
    status: str
    comparison_id: int | None


@dataclass(frozen=True)
class WorkersStatus:
    """All lanes of a session with the counters beside them."""

    session_id: int
    workers: tuple[WorkerState, ...]
    queue_pending: int
    completed: int
    failed: int
    total: int


def workers_status(session: JudgeSession) -> WorkersStatus:
    """The lanes as the database has them (one query)."""
    rows = JudgeComparison.objects.filter(session=session).in_lanes().values_list("worker_id", "pk")
    return build(session, dict(rows))


def build(session: JudgeSession, running: dict[int | None, int]) -> WorkersStatus:
    """The status from the comparisons that are running, worker_id -> comparison id."""
    return WorkersStatus(
        session_id=session.pk,
        workers=tuple(worker_state(number, running.get(number)) for number in range(session.worker_count)),
        queue_pending=max(0, session.total_comparisons - session.finished_comparisons - len(running)),
        completed=session.completed_comparisons,
        failed=session.failed_comparisons,
        total=session.total_comparisons,
    )


def worker_state(worker_id: int, comparison_id: int | None) -> WorkerState:
    """The state of one lane."""
    return WorkerState(worker_id, "idle" if comparison_id is None else "running", comparison_id)
