"""Start, pause, resume, abort, retry failed: each moves a session only from the states DESIGN's table allows.

The session row is locked, so of two clicks, two tabs or two people exactly one moves it, and the other learns that it
has already happened.
"""

import secrets
from functools import partial

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judge import events
from judge.domain.states import ACTION_SOURCES, ACTION_TARGETS, ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession, ProviderState, SessionJudge
from judge.services import breaker
from judge.services.errors import ActionRefused
from judge.services.queue import NOT_LEASED, publish_progress
from judge.services.transactions import in_transaction
from judge.services.wakeups import ask_for_results, wake_lanes_on_commit

REFUSALS = {
    "start": _("Only a session that was not started yet can be started."),
    "pause": _("Only a queued or running session can be paused."),
    "resume": _("Only a paused or failed session can be resumed."),
    "abort": _("A completed or aborted session cannot be aborted."),
    "retry_failed": _("Failed comparisons can be retried once the session has ended."),
}


def start(session_id: int) -> JudgeSession:
    """created -> queued, and wake the lanes. Raises ActionRefused."""
    return _act(session_id, "start")


def pause(session_id: int) -> JudgeSession:
    """queued, running -> paused: running comparisons finish, no new one is claimed. Raises ActionRefused."""
    return _act(session_id, "pause")


def resume(session_id: int) -> JudgeSession:
    """paused, failed -> queued, and wake the lanes. Raises ActionRefused."""
    return _act(session_id, "resume")


def abort(session_id: int) -> JudgeSession:
    """-> aborted: claims are taken away at once, nothing is written afterwards; verdicts stay. Raises ActionRefused."""
    return _act(session_id, "abort")


def retry_failed(session_id: int) -> JudgeSession:
    """completed, failed -> queued with the failed comparisons pending again, others untouched. Raises ActionRefused."""
    return _act(session_id, "retry_failed")


def _act(session_id: int, action: str) -> JudgeSession:
    _try_providers_again(session_id, action)
    return in_transaction(partial(_move, session_id, action))


def _move(session_id: int, action: str) -> JudgeSession:
    if action == "abort":
        _lock_running(session_id)
    session = JudgeSession.objects.kept().select_for_update().get(pk=session_id)
    if SessionStatus(session.status) not in ACTION_SOURCES[action]:
        raise ActionRefused("not_allowed_in_status", REFUSALS[action])
    if action in ("retry_failed", "resume"):
        _return_failed(session, is_required=action == "retry_failed")
    session.status, session.status_reason = ACTION_TARGETS[action], ""
    if action == "abort":
        _take_claims_away(session)
        session.completed_at = Now()
        done = events.SessionComplete(session_id=session.pk, status=session.status)
        transaction.on_commit(partial(events.publish, done))
        transaction.on_commit(partial(ask_for_results, session.pk))
    if session.status == SessionStatus.QUEUED:
        SessionJudge.objects.filter(session=session).update(stop_reason="", stopped_at=None)
        session.started_at = session.started_at or Now()
        session.completed_at = None
        wake_lanes_on_commit(session.pk, session.worker_count)
    session.save()
    transaction.on_commit(partial(publish_progress, session.pk))
    session.refresh_from_db()
    return session


def _return_failed(session: JudgeSession, is_required: bool) -> None:
    """Failed comparisons become pending. A paused session resumes without them; they are retried on request."""
    if not is_required and session.status != SessionStatus.FAILED:
        return
    count = JudgeComparison.objects.filter(session=session, status=ComparisonStatus.FAILED).update(
        status=ComparisonStatus.PENDING, error_code="", error_message="", completed_at=None, lost_leases=0
    )
    if is_required and not count:
        raise ActionRefused("nothing_failed", _("No comparison of this session failed."))
    session.failed_comparisons -= count


def _try_providers_again(session_id: int, action: str) -> None:
    """Whoever starts or resumes a session wants its providers to be called again, also those whose breaker is open."""
    session = JudgeSession.objects.kept().get(pk=session_id)
    if ACTION_TARGETS[action] != SessionStatus.QUEUED or SessionStatus(session.status) not in ACTION_SOURCES[action]:
        return
    broken = ProviderState.objects.exclude(breaker_reason="").filter(provider__models__session_judges__session=session)
    for provider_id in set(broken.values_list("pk", flat=True)):
        breaker.close(provider_id, resumed=session_id)


def _lock_running(session_id: int) -> None:
    """Comparisons are locked before their session, as everywhere: a lane that is just completing goes first."""
    running = JudgeComparison.objects.filter(session=session_id, status=ComparisonStatus.RUNNING)
    list(running.select_for_update().order_by("pk").values_list("pk", flat=True))


def _take_claims_away(session: JudgeSession) -> None:
    JudgeComparison.objects.filter(session=session, status=ComparisonStatus.RUNNING).update(
        status=ComparisonStatus.PENDING, **NOT_LEASED
    )


def draw_seed() -> int:
    """A seed for a session whose owner gave none."""
    return secrets.randbelow(2**31)
