"""Asking the database while it may be away."""

import time
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError, connection

T = TypeVar("T")
PATIENCE_SECONDS = 60.0


def ask(question: Callable[[], T]) -> T:
    """The answer, asked again for up to a minute while the database is not there."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return question()
        except (OperationalError, InterfaceError):
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
