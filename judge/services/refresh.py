"""When results are computed anew while a session runs; its end asks for itself (tally.conclude)."""

import threading
import time
from datetime import timedelta

from django.db.models.functions import Now

from judge.models import JudgeSession, ResultSnapshot
from judge.selectors.results import OVERVIEW
from judge.services.results import refresh_results
from judge.services.wakeups import ask_for_results

EVERY_SECONDS = 3.0
# Of a large session, where computing takes long, this many times as long passes before it is done again.
REST_FACTOR = 20

_lock = threading.Lock()
_last_asked: dict[int, float] = {}
_rests_until: dict[int, float] = {}


def results_wanted(session_id: int) -> None:
    """Ask for fresh results unless this process did so a moment ago. recover() asks again for whatever got lost."""
    now = time.monotonic()
    with _lock:
        if now - _last_asked.get(session_id, -EVERY_SECONDS) < EVERY_SECONDS:
            return
        _last_asked[session_id] = now
    ask_for_results(session_id)


def refresh_when_due(session_id: int) -> bool:
    """Compute results anew, unless the session is still judged and they are fresh: each of its workers asks for them.

    Returns whether it did.
    """
    is_live = JudgeSession.objects.live().filter(pk=session_id).exists()
    if is_live and (time.monotonic() < _rests_until.get(session_id, 0.0) or _is_fresh(session_id)):
        return False
    began = time.monotonic()
    is_done = refresh_results(session_id)
    if is_live:
        _rests_until[session_id] = time.monotonic() + REST_FACTOR * (time.monotonic() - began)
    else:
        _rests_until.pop(session_id, None)
    return is_done


def _is_fresh(session_id: int) -> bool:
    earlier = Now() - timedelta(seconds=EVERY_SECONDS)
    newest = ResultSnapshot.objects.filter(session=session_id, kind=OVERVIEW)
    return newest.filter(created_at__gt=earlier, created_at__lte=Now()).exists()
