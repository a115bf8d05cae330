"""Plans are written by the tests themselves: no message leaves the process."""

from tests.queue.conftest import not_stopping, sent_wakeups

__all__ = ["not_stopping", "sent_wakeups"]
