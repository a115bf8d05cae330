"""Writing a plan that was decided at creation: part by part, a small one at once, a large one by a worker.

Lanes may judge the first parts while the rest is written. Each part is one transaction, so a worker that is killed
loses nothing, and another goes on behind the last part.
"""

import logging
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from itertools import islice

from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from judge.domain.planning import PlannedPair, plan_pairs
from judge.domain.states import ComparisonMode, SessionStatus
from judge.models import JudgeComparison, JudgePair, JudgeSession
from judge.models.session import LIVE_STATUSES
from judge.services.leases import STOPPING
from judge.services.planning.rows import PlanFrame, append, read_frame
from judge.services.queue import publish_progress
from judge.services.wakeups import ask_for_plan, wake_lane

logger = logging.getLogger(__name__)

# Comparisons of the largest plan that is written where the session is created.
AT_ONCE = 2_000
# From this size on a plan is worth telling the database's planner about at once.
LARGE_PLAN = 1_000
# Comparisons of a part: a transaction of some tenths of a second.
PART = 2_000
# How long one task writes before it makes room for other work (seconds). Going on costs planning the first parts again.
TURN_SECONDS = 20.0
# A plan of which no part was written for so long has lost its writer (seconds).
LOST_AFTER = 30
TOLD_EVERY = 1.0


def write_small_or_ask(session: JudgeSession, frame: PlanFrame) -> None:
    """Write the plan of a session that is just being created, or have a worker write it after the commit."""
    if session.total_comparisons > AT_ONCE:
        transaction.on_commit(partial(ask_for_plan, session.pk))
        return
    for part in _parts(frame, 0, _pair_total(session, frame)):
        append(frame, part)


def write_for_a_while(session_id: int, seconds: float = TURN_SECONDS) -> bool:
    """Write parts of a session's plan for some seconds. Returns whether there is more to write.

    Safe to run twice at once, to lose, and to kill at any point. Ends at once for a session that was aborted or
    deleted, and for an adaptive one, whose plan grows otherwise.
    """
    session = unwritten().filter(pk=session_id).first()
    if session is None:
        return False
    until = time.monotonic() + seconds
    frame = read_frame(session)
    written = session.planned_comparisons // frame.config.comparisons_per_pair
    told = 0.0
    for part in _parts(frame, written, _pair_total(session, frame)):
        if STOPPING.is_set() or not append(frame, part):
            return False
        if time.monotonic() - told >= TOLD_EVERY:
            told = time.monotonic()
            _tell(session_id)
        if time.monotonic() >= until:
            return True
    count_rows()
    _tell(session_id)
    return False


def unwritten() -> QuerySet[JudgeSession]:
    """Sessions whose plan is decided but not written to its end."""
    behind = JudgeSession.objects.kept().filter(planned_comparisons__lt=F("total_comparisons"))
    return behind.exclude(comparison_mode=ComparisonMode.ADAPTIVE).exclude(status=SessionStatus.ABORTED)


def without_writer() -> list[int]:
    """Ids of sessions whose plan nobody seems to write any more."""
    lost = unwritten().exclude(plan_written_at__gte=Now() - timedelta(seconds=LOST_AFTER))
    return list(lost.values_list("pk", flat=True))


def count_rows() -> None:
    """Renew PostgreSQL's statistics of the queue: until it does so itself, minutes later, it takes the table for tiny
    and reads all waiting comparisons for each claim."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for model in (JudgeComparison, JudgePair):
                cursor.execute(f"ANALYZE {model._meta.db_table}")


def _pair_total(session: JudgeSession, frame: PlanFrame) -> int:
    return session.total_comparisons // frame.config.comparisons_per_pair


def _parts(frame: PlanFrame, written: int, total: int) -> Iterator[list[PlannedPair]]:
    """The pairs from number ``written`` on in parts. Their sizes are multiples of the blocks in which swap twins stand
    together, and none has one pair alone, whose twins would be neighbours: so the order is that of the whole plan."""
    pairs = islice(plan_pairs(frame.config, frame.threads), written, None)
    size = max(4, PART // frame.config.comparisons_per_pair // 4 * 4)
    while written < total:
        part = list(islice(pairs, size + 1 if total - written == size + 1 else size))
        if not part:
            raise RuntimeError(f"the plan of session {frame.session_id} is shorter than it was counted")
        yield part
        written += len(part)


def _tell(session_id: int) -> None:
    """Show how far the plan is, and wake the lanes of a session that runs already."""
    publish_progress(session_id)
    live = JudgeSession.objects.filter(pk=session_id, status__in=LIVE_STATUSES)
    for worker_count in live.values_list("worker_count", flat=True):
        for worker_id in range(worker_count):
            wake_lane(session_id, worker_id)
