"""How deep the queue is, over all sessions: few short questions, so that they may be asked every few seconds."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, DateTimeField, ExpressionWrapper, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, Greatest, Now

from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession
from judge.models.session import LIVE_STATUSES


@dataclass(frozen=True)
class Depth:
    """``sessions``: number per status. ``pending`` and ``running``: comparisons of live sessions, and of all, in lanes.

    ``expired``: of the running ones, those whose lease ran out. ``standstill``: the longest time in seconds that a live
    session with waiting work has seen neither a claim nor an end of a comparison; 0 where nothing waits.
    """

    sessions: dict[str, int]
    pending: int
    running: int
    expired: int
    standstill: float


def queue_depth() -> Depth:
    """Read the depth of the queue (three queries, none of them over the comparisons that wait or are done)."""
    rows = list(
        JudgeSession.objects.order_by()
        .values("status")
        .annotate(
            n=Count("pk"),
            open=Sum(F("total_comparisons") - F("completed_comparisons") - F("failed_comparisons")),
        )
    )
    running = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING).order_by()
    held = running.aggregate(
        n=Count("pk"),
        live=Count("pk", filter=Q(session__status__in=LIVE_STATUSES)),
        expired=Count("pk", filter=Q(lease_expires_at__lt=Now())),
    )
    unfinished = sum(row["open"] for row in rows if row["status"] in LIVE_STATUSES)
    return Depth(
        sessions={status.value: 0 for status in SessionStatus} | {row["status"]: row["n"] for row in rows},
        pending=max(0, unfinished - held["live"]),
        running=held["n"],
        expired=held["expired"],
        standstill=_longest_standstill(),
    )


def with_last_sign(sessions: QuerySet[JudgeSession]) -> QuerySet[Any]:
    """Add ``last_sign``, the last start, claim or end in a started session, and ``moment``, the database's now."""
    own = JudgeComparison.objects.filter(session=OuterRef("pk"))
    ended = own.filter(completed_at__isnull=False).order_by("-completed_at").values("completed_at")[:1]
    held = own.filter(status=ComparisonStatus.RUNNING).order_by().values("session")
    claimed = held.annotate(newest=Max("started_at")).values("newest")
    # Coalesced one by one: on SQLite the greatest of a row of values with a NULL among them is NULL.
    signs = [F("started_at"), *(Coalesce(Subquery(rows), F("started_at")) for rows in (ended, claimed))]
    moment = ExpressionWrapper(Now(), output_field=DateTimeField())
    return sessions.annotate(last_sign=Greatest(*signs), moment=moment)


def seconds_between(earlier: datetime | None, later: datetime) -> float:
    """Seconds from one moment to another, never negative; 0 from an unknown one."""
    span = later - earlier if earlier else timedelta()
    return max(0.0, span.total_seconds())


def _longest_standstill() -> float:
    waiting = JudgeSession.objects.live().filter(
        total_comparisons__gt=F("completed_comparisons") + F("failed_comparisons")
    )
    rows = with_last_sign(waiting.order_by()).values_list("last_sign", "moment")
    return max((seconds_between(last, moment) for last, moment in rows), default=0.0)
