"""What one call may cost: time by the monotonic clock and bytes from the network, whatever the server sends."""

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from judge.domain.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator

# Longest wait in one receive: how late a stop or a deadline can be noticed while the server is silent, in seconds.
POLL_SECONDS: Final = 0.25
# A stream wraps every few characters into some hundred bytes of JSON; each event with text earns this many raw bytes.
_WRAPPING_BYTES: Final = 1_024
# Least time between two receives while an answer is far from its end, in seconds: what arrives meanwhile is received at
# once. Waking up for every token is most of what a streamed answer costs, and watchers get ten frames a second anyway.
_GATHER_SECONDS: Final = 0.025
# How long a complete answer waits for usage and [DONE], and then for the end of the response, in seconds.
_USAGE_GRACE: Final = 5.0
_END_GRACE: Final = 0.5


@dataclass(frozen=True)
class Limits:
    """Limits of one call: seconds to connect, to the first token, between tokens and in all; bytes of answer."""

    connect: float = 10.0
    first_token: float = 60.0
    silence: float = 30.0
    total: float = 600.0
    max_bytes: int = 1_000_000


class OverBudget(Exception):
    """A limit was reached or the call was stopped. `code` says which."""

    def __init__(self, code: ErrorCode) -> None:
        super().__init__(str(code))
        self.code = code


class CallBudget:
    """Clock and byte counter of one running call; asked before and after every receive from its socket."""

    def __init__(self, limits: Limits, stop: Callable[[], bool]) -> None:
        self.limits = limits
        self.failure: ErrorCode | None = None
        self._stop = stop
        self.started = time.monotonic()
        self._end = self.started + limits.total
        self._bytes_left = limits.max_bytes
        self._gathers = False
        self._received_at = 0.0
        self._set_deadline(self.started + limits.first_token, ErrorCode.TIMEOUT_FIRST_TOKEN)

    def elapsed_ms(self) -> int:
        """Milliseconds since the call began."""
        return round((time.monotonic() - self.started) * 1000)

    def token(self) -> None:
        """Text arrived: the silence begins anew."""
        self._bytes_left += _WRAPPING_BYTES
        self._set_deadline(time.monotonic() + self.limits.silence, ErrorCode.TIMEOUT_SILENCE)

    def gather(self, is_wanted: bool) -> None:
        """Whether text may gather for a moment before it is received, or each piece is wanted as it comes."""
        self._gathers = is_wanted

    def seconds_to_gather(self) -> float:
        """How long the next receive is put off."""
        return max(0.0, self._received_at + _GATHER_SECONDS - time.monotonic()) if self._gathers else 0.0

    def finished(self) -> None:
        """The finish reason arrived: only the usage and the end may still come."""
        self._gathers = False
        self._set_deadline(time.monotonic() + min(_USAGE_GRACE, self.limits.silence), ErrorCode.TIMEOUT_SILENCE)

    def done(self) -> None:
        """The last event arrived: only the end of the response may still come, so that the connection can be kept."""
        self._set_deadline(time.monotonic() + _END_GRACE, ErrorCode.TIMEOUT_SILENCE)

    def seconds_to_wait(self) -> float:
        """How long the next receive may take, at most POLL_SECONDS. Raises OverBudget."""
        if self._stop():
            raise self._over(ErrorCode.CANCELLED)
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self._over(self._reason)
        return min(left, POLL_SECONDS)

    def received(self, count: int) -> None:
        """Count bytes from the network. Raises OverBudget."""
        self._received_at = time.monotonic()
        self._bytes_left -= count
        if self._bytes_left < 0:
            raise self._over(ErrorCode.TOO_LARGE)

    def _set_deadline(self, moment: float, reason: ErrorCode) -> None:
        if moment < self._end:
            self._deadline, self._reason = moment, reason
        else:
            self._deadline, self._reason = self._end, ErrorCode.TIMEOUT_TOTAL

    def _over(self, code: ErrorCode) -> OverBudget:
        self.failure = code
        return OverBudget(code)


_running = threading.local()


@contextmanager
def running(budget: CallBudget) -> "Iterator[None]":
    """Make `budget` the one of this thread's call. A synchronous client does all its receiving in the calling thread,
    and the budget must also hold while the openai library reads headers and error bodies."""
    outer = current()
    _running.budget = budget
    try:
        yield
    finally:
        _running.budget = outer


def current() -> CallBudget | None:
    """The budget of this thread's call, if one runs."""
    return getattr(_running, "budget", None)
