"""The queue: claim, complete, fail, release. The database is the referee of every move.

Lock order everywhere: session row, then comparison rows. A claim does not lock the session, so a claim may slip past a
pause or an abort that commits at the same moment; completing checks the session under its lock, so nothing is written
after an abort.
"""

import logging
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Now

from judge import events
from judge.domain.errors import ErrorCode
from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession
from judge.models.session import LIVE_STATUSES
from judge.services.claiming import Claim, TakenClaim, claim_next
from judge.services.transactions import in_transaction
from judge.services.wakeups import ask_for_results

logger = logging.getLogger(__name__)

NOT_LEASED = {"claim_token": None, "lease_expires_at": None}


def lease_end() -> Combinable:
    """When a lease taken or extended now runs out, by the database's clock: no worker's clock decides."""
    length = Value(timedelta(seconds=settings.JUDGE_LEASE_SECONDS))
    return ExpressionWrapper(Now() + length, output_field=DateTimeField())


def claim(session_id: int, worker_id: int) -> TakenClaim | None:
    """Take the next waiting comparison of a live session for one lane.

    Returns None when there is nothing to do, when the session is not live, or when the lane is already judging: the
    unique key one_running_per_lane refuses a second claim, however many wake-ups arrive.
    """
    try:
        taken = claim_next(session_id, worker_id, uuid4())
    except IntegrityError:
        return None
    if taken is not None and taken.session_status == SessionStatus.QUEUED:
        mark_running(session_id)
    return taken


def mark_running(session_id: int) -> None:
    """The first claim moves a queued session to running; of several lanes only one matches the row."""
    moved = JudgeSession.objects.filter(pk=session_id, status=SessionStatus.QUEUED).update(status=SessionStatus.RUNNING)
    if moved:
        transaction.on_commit(partial(publish_progress, session_id))


def lock_session(claimed: Claim) -> JudgeSession | None:
    """Lock the session of a claim; None when it was deleted or aborted: nothing may be written then."""
    needed = JudgeSession.objects.only(
        "status", "status_reason", "total_comparisons", "completed_comparisons", "failed_comparisons"
    )
    session = needed.select_for_update().filter(pk=claimed.session_id).order_by().first()
    return None if session is None or session.status == SessionStatus.ABORTED else session


def finish(claimed: Claim, status: ComparisonStatus, **values: object) -> bool:
    """End the claimed comparison. Matches no row, and returns False, when somebody else has it by now."""
    held = JudgeComparison.objects.filter(
        pk=claimed.comparison_id, status=ComparisonStatus.RUNNING, claim_token=claimed.token
    )
    return bool(held.update(status=status, completed_at=Now(), **NOT_LEASED, **values))


def extend(tokens: list[UUID]) -> set[UUID]:
    """Extend the leases behind the tokens; returns the tokens that still hold one."""
    rows = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING, claim_token__in=tokens)
    rows.update(lease_expires_at=lease_end())
    return {token for token in rows.values_list("claim_token", flat=True) if token is not None}


def fail(claimed: Claim, code: ErrorCode, message: str = "") -> bool:
    """Record that a comparison failed for good. Returns False when the claim was lost meanwhile."""

    def work() -> bool:
        session = lock_session(claimed)
        if session is None or not finish(
            claimed, ComparisonStatus.FAILED, error_code=code, error_message=message[:500]
        ):
            return False
        session.failed_comparisons += 1
        failed = events.ComparisonFailed(
            session_id=claimed.session_id,
            worker_id=claimed.worker_id,
            comparison_id=claimed.comparison_id,
            error_code=code,
            will_retry=False,
        )
        settle(session, failed)
        return True

    return logged(claimed, in_transaction(work))


def release(claimed: Claim, pause_reason: ErrorCode | None = None) -> bool:
    """Give a comparison back unjudged, without counting the attempt; with a reason, pause its session."""

    def work() -> bool:
        session = JudgeSession.objects.select_for_update().filter(pk=claimed.session_id).first()
        given_back = JudgeComparison.objects.filter(
            pk=claimed.comparison_id, status=ComparisonStatus.RUNNING, claim_token=claimed.token
        ).update(status=ComparisonStatus.PENDING, attempt_count=F("attempt_count") - 1, **NOT_LEASED)
        if given_back and session and pause_reason and session.status in LIVE_STATUSES:
            session.status, session.status_reason = SessionStatus.PAUSED, pause_reason
            session.save(update_fields=["status", "status_reason"])
            transaction.on_commit(partial(publish_progress, session.pk))
        return bool(given_back)

    return logged(claimed, in_transaction(work))


def settle(session: JudgeSession, *news: events.Event) -> None:
    """Store the counters of a locked session, end it when nothing is left to judge, and publish after the commit.

    A session of which not one comparison was judged has failed, whatever the calls cost.
    """
    changed = ["completed_comparisons", "failed_comparisons"]
    ended: tuple[events.Event, ...] = ()
    if session.finished_comparisons == session.total_comparisons:
        session.status = SessionStatus.COMPLETED if session.completed_comparisons else SessionStatus.FAILED
        session.status_reason = "" if session.completed_comparisons else "nothing_judged"
        session.completed_at = Now()
        changed += ["status", "status_reason", "completed_at"]
        ended = (events.SessionComplete(session_id=session.pk, status=session.status),)
        transaction.on_commit(partial(ask_for_results, session.pk))
    session.save(update_fields=changed)
    transaction.on_commit(partial(events.publish, *news, progress_of(session), *ended))


def progress_of(session: JudgeSession) -> events.ProgressChanged:
    """Status and counters of a session as an event."""
    return events.ProgressChanged(
        session_id=session.pk,
        status=session.status,
        status_reason=session.status_reason,
        completed=session.completed_comparisons,
        failed=session.failed_comparisons,
        total=session.total_comparisons,
    )


def publish_progress(session_id: int) -> None:
    """Tell watchers that status or counters changed, with the numbers as they are now."""
    session = JudgeSession.objects.filter(pk=session_id).first()
    if session is not None:
        events.publish(progress_of(session))


def logged(claimed: Claim, still_held: bool) -> bool:
    """Pass the outcome of a guarded write on; an answer that came too late is thrown away and logged."""
    if not still_held:
        logger.warning("stale_attempt comparison=%s worker=%s", claimed.comparison_id, claimed.worker_id)
    return still_held
