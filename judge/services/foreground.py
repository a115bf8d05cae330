"""Judging a session in this very process, for the command line: lanes are threads, no broker is needed.

The lanes are the same as the workers': they claim from the database, so workers may help at the same time.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from django.db import DatabaseError, connections

from judge.models import JudgeSession
from judge.models.session import LIVE_STATUSES
from judge.selectors.progress import Progress, progress
from judge.services import recovery
from judge.services.lanes import run_lane
from judge.services.planning.writing import unwritten, write_for_a_while
from judge.services.results import refresh_results
from judge.services.stopping import pause_if_stuck

logger = logging.getLogger(__name__)

RECOVER_EVERY = 10.0
IDLE_PAUSE = 0.2
# How long the plan is written before anybody asks whether to stop.
WRITE_SECONDS = 5.0


def judge_in_foreground(session_id: int, every_seconds: float = 0.5) -> Iterator[Progress]:
    """Run all lanes of a live session until it is no longer live, yielding its progress now and then.

    What is not written of its plan yet is written meanwhile. At the end the results are computed. Closing the iterator
    stops the lanes after their current comparison.
    """
    session = JudgeSession.objects.get(pk=session_id)
    stop = threading.Event()
    works = {f"lane-{worker_id}": partial(run_lane, session_id, worker_id) for worker_id in range(session.worker_count)}
    if unwritten().filter(pk=session_id).exists():
        works["plan"] = partial(write_for_a_while, session_id, WRITE_SECONDS)
    threads = [
        threading.Thread(target=_repeat, args=(work, session_id, stop), name=name, daemon=True)
        for name, work in works.items()
    ]
    for thread in threads:
        thread.start()
    next_recovery = time.monotonic() + RECOVER_EVERY
    try:
        while True:
            session.refresh_from_db()
            yield progress(session)
            if session.status not in LIVE_STATUSES:
                break
            if time.monotonic() >= next_recovery:
                recovery.give_back_expired()
                pause_if_stuck(session_id)
                next_recovery = time.monotonic() + RECOVER_EVERY
            time.sleep(every_seconds)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    refresh_results(session_id)


def _repeat(work: Callable[[], bool], session_id: int, stop: threading.Event) -> None:
    """One lane, or the plan's writer: go on; when there is nothing to do, look again while the session lives."""
    try:
        while not stop.is_set():
            try:
                if work():
                    continue
            except DatabaseError as error:
                # The lease runs out and the comparison comes back; a lane that ended here would be missed for good.
                name = threading.current_thread().name
                logger.warning("lane_interrupted worker=%s error=%s", name, type(error).__name__)
                connections.close_all()
            if not JudgeSession.objects.filter(pk=session_id, status__in=LIVE_STATUSES).exists():
                return
            stop.wait(IDLE_PAUSE)
    finally:
        connections.close_all()
