"""Transactions that the database may refuse through no fault of ours."""

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection, transaction

logger = logging.getLogger(__name__)

T = TypeVar("T")
TRIES = 4
PAUSE = 0.05
# PostgreSQL: serialisation failure, deadlock.
_CONFLICTS = ("40001", "40P01")


def is_transient(error: Exception) -> bool:
    """Whether the same transaction may succeed when it is tried again: a conflict, a lock, a lost connection."""
    if isinstance(error, InterfaceError):
        return True
    state = getattr(error.__cause__, "sqlstate", None)
    if state is None:  # SQLite's lock, or the connection died before the server could say anything
        return "locked" in str(error) or "closed" in str(error) or "connection" in str(error)
    return state in _CONFLICTS or state.startswith("57P0")


def in_transaction(work: Callable[[], T]) -> T:
    """Run ``work`` in a transaction; on a conflict or a lost connection try again, up to three more times.

    ``work`` must be guarded by what it reads (a claim token, a status), since a commit whose answer got lost is
    repeated too. Raises the database's error when the last try fails.
    """

    def in_one() -> T:
        with transaction.atomic():
            return work()

    return work() if connection.in_atomic_block else in_one_statement(in_one)


def in_one_statement(work: Callable[[], T]) -> T:
    """Run ``work``, one statement and so a transaction by itself, as `in_transaction` does: two round trips less."""
    if connection.in_atomic_block:
        return work()
    for tries_left in reversed(range(TRIES)):
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            if not tries_left or not is_transient(error):
                raise
            logger.warning("transaction_retried error=%s", type(error).__name__)
            connection.close_if_unusable_or_obsolete()
            time.sleep(PAUSE * (TRIES - tries_left))
    raise AssertionError("unreachable")
