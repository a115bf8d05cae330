"""Signs of life: one thread per process extends the leases of all comparisons that are being judged in it."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection

from judge.services import queue
from judge.services.claiming import Claim

logger = logging.getLogger(__name__)

# How soon a lane learns that its session was deleted or aborted, or its comparison given to somebody else (seconds).
LOOK_EVERY = 2.0
SHORTEST_PAUSE = 0.25
# Set when this process was asked to end: running calls are cut and their comparisons given back.
STOPPING = threading.Event()


class Lease:
    """One claim while it is being judged."""

    def __init__(self, claimed: Claim) -> None:
        self.claimed = claimed
        self._lost = threading.Event()

    @property
    def is_lost(self) -> bool:
        """Somebody else has the comparison, or its session was aborted or deleted."""
        return self._lost.is_set()

    def lose(self) -> None:
        """The database no longer knows this claim."""
        self._lost.set()

    def should_stop(self) -> bool:
        """Whether going on is of no use; asked at every piece of an answer."""
        return self._lost.is_set() or STOPPING.is_set()

    def wait(self, seconds: float) -> None:
        """Wait before a retry; returns early when the lease is lost or the process is to end."""
        step = 0.25
        while seconds > 0 and not self.should_stop():
            self._lost.wait(min(step, seconds))
            seconds -= step


class LeaseKeeper:
    """Extends all leases of this process with one statement per heartbeat, and looks in between for lost ones."""

    def __init__(self) -> None:
        self._leases: dict[UUID, Lease] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextmanager
    def keep(self, claimed: Claim) -> Iterator[Lease]:
        """Keep a claim alive for the time of the block."""
        lease = Lease(claimed)
        with self._lock:
            self._leases[claimed.token] = lease
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
                self._thread.start()
        try:
            yield lease
        finally:
            with self._lock:
                self._leases.pop(claimed.token, None)

    def _run(self) -> None:
        pause = threading.Event()
        beat_at = time.monotonic() + settings.JUDGE_HEARTBEAT_SECONDS
        while not pause.wait(min(LOOK_EVERY, max(SHORTEST_PAUSE, beat_at - time.monotonic()))):
            with self._lock:
                leases = dict(self._leases)
                if not leases:
                    self._thread = None
                    return
            is_due = time.monotonic() >= beat_at
            has_answer = self._look(leases, queue.extend if is_due else queue.held)
            if not has_answer:
                beat_at = 0.0  # leases are extended as soon as the database is back
            elif is_due:
                beat_at = time.monotonic() + settings.JUDGE_HEARTBEAT_SECONDS

    def _look(self, leases: dict[UUID, Lease], ask: Callable[[list[UUID]], set[UUID]]) -> bool:
        """Tell the leases that are gone. Returns whether the database answered."""
        try:
            alive = ask(list(leases))
        except DatabaseError as error:
            # The lease may run out meanwhile; completing is guarded by the token, so nothing goes wrong by waiting.
            logger.warning("heartbeat_failed error=%s", type(error).__name__)
            return False
        finally:
            connection.close()
        for token, lease in leases.items():
            if token not in alive:
                lease.lose()
        return True


keeper = LeaseKeeper()
