"""Deleting a session: for everybody at once, its rows at once or, where there are many, part by part by a worker."""

import time
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judge.domain.states import SessionStatus
from judge.models import JudgePair, JudgeSession
from judge.services.errors import ActionRefused
from judge.services.leases import STOPPING
from judge.services.transactions import in_transaction
from judge.services.wakeups import ask_for_deletion

DELETABLE = (SessionStatus.CREATED, SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.ABORTED)
# Comparisons of the largest session whose rows are deleted where somebody deletes it.
AT_ONCE = 2_000
# Pairs of a part, each with its comparisons, verdicts and calls.
PART = 500
TURN_SECONDS = 20.0
# A deletion of which no part was done for so long has lost its worker (seconds).
LOST_AFTER = 30


def delete_session(session_id: int) -> None:
    """Delete a session with everything that was judged in it. Raises ActionRefused while it may still be judging."""

    def work() -> None:
        session = JudgeSession.objects.kept().select_for_update().get(pk=session_id)
        if session.status not in DELETABLE:
            raise ActionRefused("still_active", _("Abort the session before you delete it."))
        if session.planned_comparisons <= AT_ONCE:
            session.delete()
            return
        JudgeSession.objects.filter(pk=session_id).update(deleted_at=Now())
        transaction.on_commit(partial(ask_for_deletion, session_id))

    in_transaction(work)


def delete_for_a_while(session_id: int, seconds: float = TURN_SECONDS) -> bool:
    """Remove rows of a deleted session for some seconds. Returns whether there are more. Safe to run twice at once."""
    until = time.monotonic() + seconds
    deleted = JudgeSession.objects.filter(pk=session_id, deleted_at__isnull=False)
    while not STOPPING.is_set() and deleted.update(deleted_at=Now()):
        if not in_transaction(partial(_delete_part, session_id)):
            deleted.delete()
        elif time.monotonic() >= until:
            return True
    return STOPPING.is_set()


def without_worker() -> list[int]:
    """Ids of deleted sessions whose rows nobody seems to remove any more."""
    lost = JudgeSession.objects.filter(deleted_at__lt=Now() - timedelta(seconds=LOST_AFTER))
    return list(lost.values_list("pk", flat=True))


def _delete_part(session_id: int) -> int:
    """Delete some pairs with all that hangs on them; returns how many."""
    some = list(JudgePair.objects.filter(session=session_id).order_by("pk").values_list("pk", flat=True)[:PART])
    JudgePair.objects.filter(pk__in=some).delete()
    return len(some)
