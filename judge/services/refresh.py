"""When results are computed anew while a session runs; its end asks for itself (tally.conclude)."""

import threading
import time

from judge.services.wakeups import ask_for_results

EVERY_SECONDS = 3.0

_lock = threading.Lock()
_last_asked: dict[int, float] = {}


def results_wanted(session_id: int) -> None:
    """Ask for fresh results unless this process did so a moment ago.

    Per process, so a session on many workers is computed a few times too often at worst. recover() asks again for
    whatever got lost.
    """
    now = time.monotonic()
    with _lock:
        if now - _last_asked.get(session_id, -EVERY_SECONDS) < EVERY_SECONDS:
            return
        _last_asked[session_id] = now
    ask_for_results(session_id)
