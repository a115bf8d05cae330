"""Turning the signals that end a program into one clean way out."""

import signal
from collections.abc import Callable
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """Somebody asked the program to end. Like KeyboardInterrupt, no ``except Exception`` may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class StopSignals:
    """While entered: the first signal raises Stopped in the main thread, each later one calls ``hurry``.

    Race: once ``shield`` was called, or the first signal came, nothing is raised any more, so that the stopping of
    children is never broken off half-way.
    """

    def __init__(self, hurry: Callable[[], None]) -> None:
        self._hurry = hurry
        self._shielded = False
        self._before: dict[signal.Signals, object] = {}

    def __enter__(self) -> "StopSignals":
        for number in SIGNALS:
            self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def shield(self) -> None:
        """From here on signals only hurry."""
        self._shielded = True

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._shielded:
            self._hurry()
            return
        self._shielded = True
        raise Stopped(number)
