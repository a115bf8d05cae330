"""Whether a session is doing well: counted from the rows, so that it shows what counters would hide."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import BooleanField, Case, Count, Value, When
from django.db.models.functions import Now

from judge.models import JudgeComparison, JudgeSession
from judge.selectors.progress import status_counts


@dataclass(frozen=True)
class Lease:
    """A comparison that a lane holds. ``expired`` by the database's clock: recovery will take it back."""

    worker_id: int
    comparison_id: int
    attempt_count: int
    started_at: datetime | None
    lease_expires_at: datetime
    expired: bool


@dataclass(frozen=True)
class Health:
    """``counters_match``: the session's counters say the same as its rows. ``status_reason``: why it stands still."""

    session_id: int
    status: str
    status_reason: str
    comparisons: dict[str, int]
    counters_match: bool
    leases: tuple[Lease, ...]
    errors: dict[str, int]


def health(session: JudgeSession) -> Health:
    """Read the health of a session (three queries)."""
    counts = status_counts(session)
    return Health(
        session_id=session.pk,
        status=session.status,
        status_reason=session.status_reason,
        comparisons=counts,
        counters_match=counts["completed"] == session.completed_comparisons
        and counts["failed"] == session.failed_comparisons
        and sum(counts.values()) == session.total_comparisons,
        leases=_leases(session),
        errors=_errors(session),
    )


def _leases(session: JudgeSession) -> tuple[Lease, ...]:
    expired = Case(When(lease_expires_at__lt=Now(), then=Value(True)), default=False, output_field=BooleanField())
    rows = JudgeComparison.objects.filter(session=session).in_lanes().annotate(is_expired=expired)
    fields = ("worker_id", "pk", "attempt_count", "started_at", "lease_expires_at", "is_expired")
    return tuple(Lease(*row) for row in rows.values_list(*fields))


def _errors(session: JudgeSession) -> dict[str, int]:
    failed = JudgeComparison.objects.filter(session=session).exclude(error_code="").order_by()
    return dict(failed.values_list("error_code").annotate(n=Count("pk")).order_by("-n", "error_code"))
