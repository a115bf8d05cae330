"""How far a session is."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count
from django.utils import timezone

from judge.domain.states import ComparisonStatus
from judge.models import JudgeComparison, JudgeSession

RATE_WINDOW = timedelta(minutes=5)


@dataclass(frozen=True)
class Progress:
    """Counts of one session; ``rate_per_minute`` and ``seconds_left`` are None while nothing can be said."""

    session_id: int
    status: str
    status_reason: str
    total: int
    completed: int
    failed: int
    running: int
    pending: int
    percent: int
    rate_per_minute: float | None
    seconds_left: int | None


def progress(session: JudgeSession) -> Progress:
    """Read the progress of a session as it stands in the database (two queries)."""
    running = JudgeComparison.objects.filter(session=session, status=ComparisonStatus.RUNNING).count()
    pending = max(0, session.total_comparisons - session.finished_comparisons - running)
    rate = _rate_per_minute(session)
    return Progress(
        session_id=session.pk,
        status=session.status,
        status_reason=session.status_reason,
        total=session.total_comparisons,
        completed=session.completed_comparisons,
        failed=session.failed_comparisons,
        running=running,
        pending=pending,
        percent=session.percent,
        rate_per_minute=rate,
        seconds_left=round(60 * (pending + running) / rate) if rate and (pending or running) else None,
    )


def _rate_per_minute(session: JudgeSession) -> float | None:
    """Finished comparisons per minute within the last five minutes, by the index comparison_history."""
    if session.started_at is None:
        return None
    now = timezone.now()
    since = max(session.started_at, now - RATE_WINDOW)
    finished = JudgeComparison.objects.filter(session=session, completed_at__gte=since).count()
    minutes = (now - since).total_seconds() / 60
    return finished / minutes if finished and minutes > 0 else None


def status_counts(session: JudgeSession) -> dict[str, int]:
    """Comparisons per status, counted from the rows (the counters' check)."""
    rows = JudgeComparison.objects.filter(session=session).values("status").annotate(n=Count("pk")).order_by()
    counts = {status.value: 0 for status in ComparisonStatus}
    return counts | {row["status"]: row["n"] for row in rows}
