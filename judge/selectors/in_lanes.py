"""The comparisons that lanes hold, with what one wants to know of each: how long, which attempt, at which provider."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Now

from judge.models import JudgeComparison


@dataclass(frozen=True)
class InLane:
    """A comparison in a lane. Seconds are by the database's clock; ``lease_seconds_left`` is negative once it ran out.

    ``expired``: recovery will take the comparison back.
    """

    session_id: int
    session_name: str
    worker_id: int
    comparison_id: int
    queue_position: int
    judge_id: int
    judge: str
    provider_id: int
    provider: str
    attempt_count: int
    started_at: datetime | None
    lease_expires_at: datetime
    seconds: float
    lease_seconds_left: float

    @property
    def expired(self) -> bool:
        """Whether the lease ran out."""
        return self.lease_seconds_left < 0

    @property
    def lane(self) -> int:
        """The worker's number as people see it, from 1."""
        return self.worker_id + 1


# Dataclass field -> column, as far as they are read as they are.
_COLUMNS = {
    "session_id": "session_id",
    "session_name": "session__name",
    "worker_id": "worker_id",
    "comparison_id": "pk",
    "queue_position": "queue_position",
    "judge_id": "judge_id",
    "judge": "judge__model__model_name",
    "provider_id": "provider_id",
    "provider": "provider__name",
    "attempt_count": "attempt_count",
    "started_at": "started_at",
    "lease_expires_at": "lease_expires_at",
}


def in_lanes(comparisons: QuerySet[JudgeComparison], limit: int | None = None) -> list[InLane]:
    """The running ones of these comparisons, by session and lane (one query)."""
    running = comparisons.in_lanes().order_by("session_id", "worker_id")  # type: ignore[attr-defined]
    rows = running.annotate(moment=Now()).values_list(*_COLUMNS.values(), "moment")[:limit]
    return [_in_lane(dict(zip(_COLUMNS, row, strict=False)), row[-1]) for row in rows]


def _in_lane(values: dict[str, Any], moment: datetime) -> InLane:
    held: timedelta = moment - (values["started_at"] or moment)
    left: timedelta = values["lease_expires_at"] - moment
    return InLane(**values, seconds=max(0.0, held.total_seconds()), lease_seconds_left=left.total_seconds())
