"""When results are computed anew: throttled while a session runs, at once when it ends."""

import threading
import time

from judge.models import JudgeSession
from judge.models.session import LIVE_STATUSES
from judge.services.wakeups import ask_for_results

EVERY_SECONDS = 2.0

_lock = threading.Lock()
_last_asked: dict[int, float] = {}


def results_wanted(session_id: int) -> None:
    """Ask for fresh results unless this process did so a moment ago; the end of a session always asks.

    Per process, so a session on many workers is computed a few times too often at worst. recover() asks again for
    whatever got lost.
    """
    now = time.monotonic()
    with _lock:
        is_due = now - _last_asked.get(session_id, -EVERY_SECONDS) >= EVERY_SECONDS
        if is_due:
            _last_asked[session_id] = now
    if is_due or not JudgeSession.objects.filter(pk=session_id, status__in=LIVE_STATUSES).exists():
        ask_for_results(session_id)
