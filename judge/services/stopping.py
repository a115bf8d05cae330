"""Judges that cannot go on, and the sessions that have to wait for them.

A provider's problem stops its judge in a session; the session's other judges go on. Only when nothing but comparisons
of stopped judges is left does the session pause, with the reason.
"""

import logging
from collections.abc import Collection
from functools import partial

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession, SessionJudge
from judge.models.session import LIVE_STATUSES
from judge.services.planning.writing import unwritten
from judge.services.queue import publish_progress
from judge.services.transactions import in_transaction
from judge.services.wakeups import wake_lanes_on_commit

logger = logging.getLogger(__name__)

# Reasons of a pause that no judge is behind: a person's, and the database's.
BY_OTHERS = ("", ErrorCode.STORAGE)
UNFINISHED = (ComparisonStatus.PENDING, ComparisonStatus.RUNNING)


def stop_judge(session_judge_id: int, reason: ErrorCode) -> None:
    """This judge cannot go on in its session until somebody has mended something."""
    judges = SessionJudge.objects.filter(pk=session_judge_id)
    in_transaction(partial(_stop, judges, reason))


def stop_judges_at(provider_id: int, reason: str) -> None:
    """No judge at this provider can go on, in no live session (the breaker is open)."""
    in_transaction(partial(_stop, SessionJudge.objects.filter(model__provider=provider_id), reason))


def free_judges_at(provider_id: int, reasons: Collection[str], but: int | None = None) -> list[int]:
    """Judges stopped for one of these reasons may go on, and sessions that paused for it run again by themselves.

    A session that a person paused stays paused, and so does session ``but``. Returns the ids of the sessions that run
    again.
    """
    return in_transaction(partial(_free, provider_id, list(reasons), but))


def pause_if_stuck(session_id: int) -> bool:
    """Pause a live session of which nothing but comparisons of stopped judges is left; whether it did."""
    return in_transaction(partial(_pause_if_stuck, session_id))


def pause(session_id: int, reason: ErrorCode) -> bool:
    """Pause a live session with a reason; running comparisons finish. Returns whether it was live."""

    def work() -> bool:
        live = JudgeSession.objects.live().filter(pk=session_id)
        paused = bool(live.update(status=SessionStatus.PAUSED, status_reason=reason))
        if paused:
            transaction.on_commit(partial(publish_progress, session_id))
        return paused

    return in_transaction(work)


def _stop(judges: QuerySet[SessionJudge], reason: str) -> None:
    going = judges.filter(stop_reason="", session__status__in=LIVE_STATUSES)
    sessions = sorted(set(going.values_list("session_id", flat=True)))
    if not sessions:
        return
    # Sessions before their judges, in one order: resuming and freeing do the same.
    list(JudgeSession.objects.select_for_update().filter(pk__in=sessions).order_by("pk").values_list("pk", flat=True))
    going.update(stop_reason=reason, stopped_at=Now())
    logger.warning("judges_stopped sessions=%s reason=%s", sessions, reason)
    for session_id in sessions:
        _pause_if_stuck(session_id)
        transaction.on_commit(partial(publish_progress, session_id))


def _pause_if_stuck(session_id: int) -> bool:
    stopped = SessionJudge.objects.filter(session=session_id).exclude(stop_reason="").order_by("-stopped_at", "pk")
    newest = stopped.first()
    if newest is None:
        return False
    session = JudgeSession.objects.select_for_update().live().filter(pk=session_id).first()
    if session is None:
        return False
    left = JudgeComparison.objects.filter(session=session_id, status__in=UNFINISHED)
    if left.filter(judge__stop_reason="").exists() or not left.exists():
        return False
    if unwritten().filter(pk=session_id, session_judges__stop_reason="").exists():
        return False  # more is being written for a judge that can go on; recovery asks again
    waiting = stopped.filter(comparisons__status__in=UNFINISHED).first() or newest
    JudgeSession.objects.filter(pk=session_id).update(status=SessionStatus.PAUSED, status_reason=waiting.stop_reason)
    transaction.on_commit(partial(publish_progress, session_id))
    return True


def _free(provider_id: int, reasons: list[str], but: int | None) -> list[int]:
    stopped = SessionJudge.objects.filter(model__provider=provider_id, stop_reason__in=reasons)
    concerned = set(stopped.values_list("session_id", flat=True))
    locked = JudgeSession.objects.select_for_update().filter(pk__in=concerned).order_by("pk")
    # Paused for a judge, this or another: one that can go on is enough.
    paused = [row for row in locked if row.status == SessionStatus.PAUSED and row.status_reason not in BY_OTHERS]
    freed = list(stopped.values_list("pk", flat=True))
    at_work = JudgeComparison.objects.filter(judge__in=freed, status__in=UNFINISHED).values_list("session", flat=True)
    with_work = set(at_work.distinct())
    waiting = [row for row in paused if row.pk != but and row.pk in with_work]
    stopped.update(stop_reason="", stopped_at=None)
    for session in waiting:
        JudgeSession.objects.filter(pk=session.pk).update(status=SessionStatus.QUEUED, status_reason="")
        wake_lanes_on_commit(session.pk, session.worker_count)
    for session_id in concerned:
        transaction.on_commit(partial(publish_progress, session_id))
    return [session.pk for session in waiting]
