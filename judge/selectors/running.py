"""What is running now, over all sessions: for the page on which staff look when something seems to stand still."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, DateTimeField, ExpressionWrapper, F, IntegerField, Max, OuterRef, QuerySet, Subquery
from django.db.models import Value as V
from django.db.models.functions import Coalesce, Greatest, Now

from judge import wording
from judge.domain.states import ComparisonStatus
from judge.models import JudgeAttempt, JudgeComparison, JudgeSession
from judge.models.session import LIVE_STATUSES
from judge.selectors.depth import Depth, queue_depth, seconds_between, with_last_sign
from judge.selectors.in_lanes import InLane, in_lanes
from judge.selectors.progress import RATE_WINDOW
from judge.selectors.provider_load import ProviderLoad, busy_providers
from llars.reach import redis_answers

FAILURES_WINDOW = timedelta(hours=1)
# More than this is no longer read by anybody; the page says how many there are.
SESSIONS_SHOWN = 50
LANES_SHOWN = 200


@dataclass(frozen=True)
class LiveSession:
    """A session whose lanes should be judging. ``rate``: comparisons per minute over the last five minutes, None before
    the first one. ``standstill``: seconds since the last start, claim or end."""

    session_id: int
    name: str
    owner: str
    status: str
    status_label: Any
    total: int
    completed: int
    failed: int
    percent: int
    running: int
    workers: int
    rate: float | None
    standstill: float

    @property
    def pending(self) -> int:
        """Comparisons that wait."""
        return max(0, self.total - self.completed - self.failed - self.running)


@dataclass(frozen=True)
class Failures:
    """How often calls ended with this code within the last hour, and when the last time."""

    code: str
    count: int
    last: datetime

    @property
    def text(self) -> Any:
        """The code in words."""
        return wording.words(wording.OUTCOME_WORDS, self.code)


@dataclass(frozen=True)
class RunningNow:
    """Everything on the page at one moment."""

    depth: Depth
    sessions: tuple[LiveSession, ...]
    lanes: tuple[InLane, ...]
    providers: tuple[ProviderLoad, ...]
    failures: tuple[Failures, ...]
    redis_answers: bool

    @property
    def live_sessions(self) -> int:
        """How many sessions are live, shown or not."""
        return sum(self.depth.sessions[status] for status in LIVE_STATUSES)


def running_now() -> RunningNow:
    """Read what is running (seven queries, and a ping of Redis)."""
    return RunningNow(
        depth=queue_depth(),
        sessions=tuple(_live_sessions()),
        lanes=tuple(in_lanes(JudgeComparison.objects.all(), LANES_SHOWN)),
        providers=tuple(busy_providers()),
        failures=tuple(_failures()),
        redis_answers=redis_answers(),
    )


def _live_sessions() -> list[LiveSession]:
    own = JudgeComparison.objects.filter(session=OuterRef("pk")).order_by()
    # Served by comparison_history.
    ended = own.filter(completed_at__gte=_ago(RATE_WINDOW))
    held = own.filter(status=ComparisonStatus.RUNNING)
    rows = with_last_sign(JudgeSession.objects.live().select_related("owner"))
    rows = rows.annotate(
        ended_lately=_number(ended),
        held=_number(held),
        since=Greatest(F("started_at"), _ago(RATE_WINDOW), output_field=DateTimeField()),
    )
    return [_live_session(row) for row in rows.order_by("pk")[:SESSIONS_SHOWN]]


def _live_session(session: Any) -> LiveSession:
    seconds = seconds_between(session.since, session.moment)
    return LiveSession(
        session_id=session.pk,
        name=session.name,
        owner=session.owner.get_username(),
        status=session.status,
        status_label=session.get_status_display(),
        total=session.total_comparisons,
        completed=session.completed_comparisons,
        failed=session.failed_comparisons,
        percent=session.percent,
        running=session.held,
        workers=session.worker_count,
        rate=60 * session.ended_lately / seconds if session.ended_lately and seconds else None,
        standstill=seconds_between(session.last_sign, session.moment),
    )


def _failures() -> list[Failures]:
    # Served by attempt_ended.
    ended = JudgeAttempt.objects.filter(ended_at__gte=_ago(FAILURES_WINDOW)).exclude(outcome=JudgeAttempt.ACCEPTED)
    rows = ended.order_by().values_list("outcome").annotate(n=Count("pk"), last=Max("ended_at"))
    return [Failures(*row) for row in rows.order_by("-n", "outcome")]


def _ago(span: timedelta) -> ExpressionWrapper:
    """A moment so long ago, by the database's clock."""
    return ExpressionWrapper(Now() - V(span), output_field=DateTimeField())


def _number(rows: QuerySet[JudgeComparison]) -> Coalesce:
    counted = rows.values("session").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
