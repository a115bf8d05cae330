"""A session's counters: moved in ONE statement, at the end of the transaction that moved a comparison.

All lanes of a session meet in this row, so its lock is taken last and held for the length of a commit.
"""

from dataclasses import dataclass
from functools import partial

from django.db import connection, transaction
from django.db.models.functions import Now

from judge import events
from judge.domain.states import SessionStatus
from judge.models import JudgeSession
from judge.services.transactions import in_transaction
from judge.services.wakeups import ask_for_results

_COUNT = """
UPDATE {sessions}
SET completed_comparisons = completed_comparisons + %s, failed_comparisons = failed_comparisons + %s
WHERE id = %s AND status <> %s
RETURNING id, status, status_reason, total_comparisons, completed_comparisons, failed_comparisons
"""


# A pause lets running comparisons finish, so the last one may end while the session is paused.
ENDING = (SessionStatus.QUEUED, SessionStatus.RUNNING, SessionStatus.PAUSED)


@dataclass(frozen=True)
class Tally:
    """Status and counters of a session as they are within the current transaction."""

    session_id: int
    status: str
    status_reason: str
    total: int
    completed: int
    failed: int

    @classmethod
    def of(cls, session: JudgeSession) -> "Tally":
        """The tally of a session that was read."""
        return cls(
            session.pk,
            session.status,
            session.status_reason,
            session.total_comparisons,
            session.completed_comparisons,
            session.failed_comparisons,
        )

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to judge."""
        return self.completed + self.failed == self.total

    def event(self) -> events.ProgressChanged:
        """The tally as watchers get it."""
        return events.ProgressChanged(
            session_id=self.session_id,
            status=self.status,
            status_reason=self.status_reason,
            completed=self.completed,
            failed=self.failed,
            total=self.total,
        )


def count(session_id: int, completed: int = 0, failed: int = 0) -> Tally | None:
    """Add to the counters; None when the session was aborted or deleted: nothing may be written then."""
    with connection.cursor() as cursor:
        statement = _COUNT.format(sessions=JudgeSession._meta.db_table)
        cursor.execute(statement, [completed, failed, session_id, SessionStatus.ABORTED.value])
        row = cursor.fetchone()
    return Tally(*row) if row else None


def settle(session_id: int) -> None:
    """End a session that has nothing left to judge and was not ended yet: after its last verdict, after its worker was
    killed just then, or after its comparisons were deleted (recover asks again)."""

    def work() -> None:
        session = JudgeSession.objects.select_for_update().filter(pk=session_id, status__in=ENDING).first()
        if session is not None and (tally := Tally.of(session)).is_finished:
            conclude(tally)

    in_transaction(work)


def conclude(tally: Tally, *news: events.Event) -> None:
    """End a session that has nothing left to judge, and publish after the commit.

    A session of which not one comparison was judged has failed, whatever the calls cost. Its row is locked by `count`
    or by the caller.
    """
    if not tally.is_finished:
        transaction.on_commit(partial(events.publish_soon, *news, tally.event()))
        return
    status = SessionStatus.COMPLETED if tally.completed else SessionStatus.FAILED
    reason = "" if tally.completed else "nothing_judged"
    JudgeSession.objects.filter(pk=tally.session_id).update(status=status, status_reason=reason, completed_at=Now())
    ended = Tally(tally.session_id, status, reason, tally.total, tally.completed, tally.failed)
    done = events.SessionComplete(session_id=tally.session_id, status=status)
    transaction.on_commit(partial(events.publish_soon, *news, ended.event(), done))
    transaction.on_commit(partial(ask_for_results, tally.session_id))
