"""An answer that was paid for waits for its database: through a restart, a full disk, a read-only hour."""

import logging
from collections.abc import Callable
from contextlib import suppress

from django.db import DatabaseError, DataError, IntegrityError, connection

from judge.domain.errors import ErrorCode
from judge.services.leases import Lease
from judge.services.stopping import pause

logger = logging.getLogger(__name__)

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 5.0
# PostgreSQL: disk full, read-only transaction.
_STORAGE_STATES = ("53100", "25006")
_STORAGE_WORDS = ("disk is full", "readonly database", "disk i/o error")


def cannot_store(error: DatabaseError) -> bool:
    """Whether the database runs but can store nothing: its disk is full, or it is read-only."""
    state = getattr(error.__cause__, "sqlstate", None)
    if state is not None:
        return state in _STORAGE_STATES
    return any(words in str(error).lower() for words in _STORAGE_WORDS)


def store(work: Callable[[], bool], lease: Lease) -> bool:
    """Run ``work``, which stores an answer guarded by its claim, until the database has taken it.

    Where the database can store nothing the session is paused with the reason as soon as that can be stored. Gives up,
    with the database's error, when the process is to end, when the claim is known to be lost, and on errors that
    waiting does not mend.
    """
    seconds = FIRST_PAUSE
    while True:
        try:
            return work()
        except (DataError, IntegrityError):
            raise
        except DatabaseError as error:
            if lease.should_stop():
                raise
            logger.warning("answer_waits comparison=%s error=%s", lease.claimed.comparison_id, type(error).__name__)
            connection.close()
            if cannot_store(error):
                with suppress(DatabaseError):
                    pause(lease.claimed.session_id, ErrorCode.STORAGE)
        lease.wait(seconds)
        seconds = min(LONGEST_PAUSE, 2 * seconds)
