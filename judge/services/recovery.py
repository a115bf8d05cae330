"""What beat does every ten seconds: give lost work back, have lost plans and deletions gone on with, wake idle lanes,
probe silent providers, renew results."""

import logging
from dataclasses import dataclass
from functools import partial

from django.conf import settings
from django.db import connection
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Now

from judge import metrics
from judge.domain.errors import ErrorCode
from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession, ResultSnapshot
from judge.selectors.results import OVERVIEW
from judge.services import breaker, queue
from judge.services.claiming import Claim
from judge.services.deletion import without_worker
from judge.services.planning.growth import is_due
from judge.services.planning.writing import without_writer
from judge.services.queue import NOT_LEASED
from judge.services.stopping import pause_if_stuck
from judge.services.tally import settle
from judge.services.transactions import in_transaction
from judge.services.wakeups import ask_for_deletion, ask_for_plan, ask_for_probe, ask_for_results, wake_lane

logger = logging.getLogger(__name__)

# A comparison that took its worker down this often is not tried again.
POISON_AFTER = 3


@dataclass(frozen=True)
class Recovered:
    """What one recovery did."""

    given_back: int
    poisoned: int
    woken: int


def recover() -> Recovered:
    """Return expired leases to the queue and wake the lanes of all live sessions. Safe to run twice at once."""
    given_back, poisoned = give_back_expired()
    breaker.stop_started_meanwhile()
    breaker.free_left_behind()
    for session_id in _finished_in_a_pause():
        settle(session_id)
    for provider_id in breaker.due().values_list("pk", flat=True):
        ask_for_probe(provider_id)
    for session_id in without_writer():
        ask_for_plan(session_id)
    for session_id in without_worker():
        ask_for_deletion(session_id)
    woken = sum(wake_idle_lanes(session) for session in JudgeSession.objects.live())
    for session_id in _sessions_with_old_results():
        ask_for_results(session_id)
    return Recovered(given_back, poisoned, woken)


def give_back_expired() -> tuple[int, int]:
    """Return comparisons whose lease ran out to the queue; those that did so too often fail as poison.

    Not in the first moments of a database that was away: leases ran out while nobody could extend them, and whoever
    still holds one, perhaps with an answer that was paid for, says so at once.
    """
    poisoned = given_back = 0
    if database_has_just_started():
        return 0, 0
    for claimed, lost_leases in _expired():
        if lost_leases + 1 >= POISON_AFTER:
            poisoned += in_transaction(partial(_poison, claimed))
        else:
            given_back += in_transaction(partial(_give_back, claimed))
    if given_back or poisoned:
        metrics.lease_expired(given_back + poisoned)
        metrics.poisoned(poisoned)
        logger.warning("leases_expired given_back=%s poisoned=%s", given_back, poisoned)
    return given_back, poisoned


def wake_idle_lanes(session: JudgeSession) -> int:
    """Wake as many idle lanes as there is waiting work, or one to plan more; lanes that judge need no message."""
    if pause_if_stuck(session.pk):
        return 0
    rows = JudgeComparison.objects.filter(session=session)
    busy = set(rows.filter(status=ComparisonStatus.RUNNING).values_list("worker_id", flat=True))
    idle = [worker_id for worker_id in range(session.worker_count) if worker_id not in busy]
    if not idle:
        return 0
    waiting = len(rows.filter(status=ComparisonStatus.PENDING).order_by().values_list("pk", flat=True)[: len(idle)])
    if not waiting and not busy:
        settle(session.pk)
    if not waiting and is_due(session.pk):
        wake_lane(session.pk, idle[0])
        return 1
    for worker_id in idle[:waiting]:
        wake_lane(session.pk, worker_id)
    return waiting


def database_has_just_started() -> bool:
    """Whether PostgreSQL was started less than a heartbeat ago. SQLite is never away."""
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_postmaster_start_time() > STATEMENT_TIMESTAMP() - %s * INTERVAL '1 second'",
            [settings.JUDGE_HEARTBEAT_SECONDS],
        )
        return bool(cursor.fetchone()[0])


def _expired() -> list[tuple[Claim, int]]:
    """Claims whose lease ran out by the database's clock."""
    rows = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING, lease_expires_at__lt=Now())
    columns = ("pk", "session_id", "worker_id", "claim_token", "lost_leases")
    return [
        (Claim(pk, session, worker, token), lost) for pk, session, worker, token, lost in rows.values_list(*columns)
    ]


def _poison(claimed: Claim) -> bool:
    # Locked while its lease is looked at again, as in _give_back.
    expired = JudgeComparison.objects.select_for_update().filter(
        pk=claimed.comparison_id, claim_token=claimed.token, lease_expires_at__lt=Now()
    )
    return bool(expired.values_list("pk", flat=True).first()) and queue.fail(claimed, ErrorCode.POISON)


def _give_back(claimed: Claim) -> int:
    # The lease is checked again: its worker may have woken and extended it since.
    return JudgeComparison.objects.filter(
        pk=claimed.comparison_id,
        status=ComparisonStatus.RUNNING,
        claim_token=claimed.token,
        lease_expires_at__lt=Now(),
    ).update(status=ComparisonStatus.PENDING, lost_leases=F("lost_leases") + 1, **NOT_LEASED)


def _finished_in_a_pause() -> list[int]:
    """Paused sessions of which nothing is left: their worker was killed between the last verdict and their end."""
    finished = Q(total_comparisons=F("completed_comparisons") + F("failed_comparisons"), total_comparisons__gt=0)
    return list(JudgeSession.objects.filter(finished, status=SessionStatus.PAUSED).values_list("pk", flat=True))


def _sessions_with_old_results() -> list[int]:
    """Sessions whose snapshot has not seen all evaluations: the wake-up for the last refresh was lost."""
    seen = ResultSnapshot.objects.filter(kind=OVERVIEW).values("evaluations_seen")
    newest = Coalesce(Subquery(seen.filter(session=OuterRef("pk"))[:1]), 0)
    behind = JudgeSession.objects.kept().annotate(seen=newest).filter(~Q(seen=F("completed_comparisons")))
    return list(behind.values_list("pk", flat=True))
