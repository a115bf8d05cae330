"""The queue: claim, complete, fail, release. The database is the referee of every move.

Lock order everywhere: comparison rows, then their session's row. A claim does not lock the session, so a claim may slip
past a pause or an abort that commits at the same moment; counting a comparison checks the session's status in the same
statement, so nothing stays written after an abort.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from judge import events, metrics
from judge.domain.errors import ErrorCode
from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession
from judge.services.claiming import Claim, TakenClaim, claim_next, is_taken_place
from judge.services.tally import Tally, conclude, count
from judge.services.transactions import in_transaction

logger = logging.getLogger(__name__)

Write = Callable[[], None]

NOT_LEASED = {"claim_token": None, "lease_expires_at": None, "provider": None, "provider_slot": None}
# Lanes that claim at the same moment choose the same free place at the provider; all but one choose again.
CLAIM_TRIES = 20


def lease_end() -> Combinable:
    """When a lease taken or extended now runs out, by the database's clock: no worker's clock decides."""
    length = Value(timedelta(seconds=settings.JUDGE_LEASE_SECONDS))
    return ExpressionWrapper(Now() + length, output_field=DateTimeField())


def claim(session_id: int, worker_id: int) -> TakenClaim | None:
    """Take the next waiting comparison of a live session for one lane.

    Returns None when there is nothing that may be judged now, when the session is not live, or when the lane is already
    judging: the unique key one_running_per_lane refuses a second claim, however many wake-ups arrive.
    """
    taken = _claim_place(session_id, worker_id)
    if taken is not None and taken.session_status == SessionStatus.QUEUED:
        mark_running(session_id)
    return taken


def _claim_place(session_id: int, worker_id: int) -> TakenClaim | None:
    for _ in range(CLAIM_TRIES):
        try:
            return claim_next(session_id, worker_id, uuid4())
        except IntegrityError as error:
            if not is_taken_place(error):
                return None
    return None  # recover() wakes the lane again


def mark_running(session_id: int) -> None:
    """The first claim moves a queued session to running; of several lanes only one matches the row."""
    moved = JudgeSession.objects.filter(pk=session_id, status=SessionStatus.QUEUED).update(status=SessionStatus.RUNNING)
    if moved:
        transaction.on_commit(partial(publish_progress, session_id))


class ClaimLost(Exception):
    """The session was aborted or deleted: what was written in this transaction must not stay."""


def finish(
    claimed: Claim, status: ComparisonStatus, *news: events.Event, write: Write | None = None, **values: Any
) -> bool:
    """End the claimed comparison, with whatever ``write`` adds to it, and count it, in one transaction.

    Returns False, and leaves everything as it was, when somebody else has the comparison by now or its session was
    aborted or deleted: the token in the row and the session's status are the guards.
    """
    is_completed = status == ComparisonStatus.COMPLETED

    def work() -> bool:
        held = JudgeComparison.objects.filter(
            pk=claimed.comparison_id, status=ComparisonStatus.RUNNING, claim_token=claimed.token
        )
        if not held.update(status=status, completed_at=Now(), **NOT_LEASED, **values):
            return False
        if write is not None:
            write()
        tally = count(claimed.session_id, completed=int(is_completed), failed=int(not is_completed))
        if tally is None:
            raise ClaimLost
        conclude(tally, *news)
        return True

    try:
        return logged(claimed, in_transaction(work))
    except ClaimLost:
        let_go(claimed)
        return logged(claimed, still_held=False)


def let_go(claimed: Claim) -> bool:
    """Return a comparison to the queue if the claim still holds it; whether it did."""
    rows = JudgeComparison.objects.filter(
        pk=claimed.comparison_id, status=ComparisonStatus.RUNNING, claim_token=claimed.token
    )
    return bool(rows.update(status=ComparisonStatus.PENDING, attempt_count=F("attempt_count") - 1, **NOT_LEASED))


def held(tokens: list[UUID]) -> set[UUID]:
    """Those of the tokens that still hold a lease, in a session that was not aborted meanwhile."""
    rows = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING, claim_token__in=tokens)
    rows = rows.exclude(session__status=SessionStatus.ABORTED)  # a claim that slipped past the abort
    return {token for token in rows.values_list("claim_token", flat=True) if token is not None}


def extend(tokens: list[UUID]) -> set[UUID]:
    """Extend the leases behind the tokens; returns the tokens that still hold one."""
    rows = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING, claim_token__in=tokens)
    rows.update(lease_expires_at=lease_end())
    return held(tokens)


def fail(claimed: Claim, code: ErrorCode, message: str = "") -> bool:
    """Record that a comparison failed for good. Returns False when the claim was lost meanwhile."""
    failed = events.ComparisonFailed(
        session_id=claimed.session_id,
        worker_id=claimed.worker_id,
        comparison_id=claimed.comparison_id,
        error_code=code,
        will_retry=False,
    )
    return finish(claimed, ComparisonStatus.FAILED, failed, error_code=code, error_message=message[:500])


def release(claimed: Claim, reason: ErrorCode | None = None) -> bool:
    """Give a comparison back unjudged, without counting the attempt: the process is to end, or for the reason given."""
    if not logged(claimed, in_transaction(partial(let_go, claimed))):
        return False
    metrics.released(reason or "")
    return True


def publish_progress(session_id: int) -> None:
    """Tell watchers that status or counters changed, with the numbers as they are now."""
    session = JudgeSession.objects.filter(pk=session_id).first()
    if session is not None:
        events.publish(Tally.of(session).event())


def logged(claimed: Claim, still_held: bool) -> bool:
    """Pass the outcome of a guarded write on; an answer that came too late is thrown away and logged."""
    if not still_held:
        metrics.stale()
        logger.warning("stale_attempt comparison=%s worker=%s", claimed.comparison_id, claimed.worker_id)
    return still_held
