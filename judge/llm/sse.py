"""Server-sent events from bytes, as the HTML standard's section 9.2 reads them; incremental and bounded."""

from typing import Final

_BOM: Final = b"\xef\xbb\xbf"

Event = tuple[str, bytes]


class EventTooLarge(Exception):
    """One event grew beyond the bound."""


class EventParser:
    """Turns pieces of a byte stream, cut anywhere, into (name, data) events; comments and other fields are dropped.

    Only lines are cut, and a line break is never part of a UTF-8 sequence, so data always holds whole code points.
    """

    def __init__(self, max_event_bytes: int) -> None:
        self._max = max_event_bytes
        self._parts: list[bytes] = []
        self._data: list[bytes] = []
        self._size = 0
        self._name = ""
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[Event]:
        """The events that `data` completes. Raises EventTooLarge."""
        # What nearly every piece of a chat stream looks like: exactly one event.
        if self._is_idle() and data.startswith(b"data: {") and data.find(b"\n") == len(data) - 2 and b"\r" not in data:
            self._at_start = self._after_cr = False
            return [("", data[6:-2])] if data.endswith(b"\n\n") else self._lines(data)
        if self._after_cr and data:
            self._after_cr = False
            data = data.removeprefix(b"\n")
        if not data:
            return []
        self._size += len(data)
        if b"\n" not in data and b"\r" not in data:
            self._parts.append(data)
            self._check()
            return []
        return self._lines(b"".join([*self._parts, data]))

    def finish(self) -> list[Event]:
        """The event that the end of the stream left without its blank line, if any."""
        rest = b"".join(self._parts)
        self._parts = []
        return self._lines(rest + b"\n\n") if rest or self._data else []

    def _is_idle(self) -> bool:
        return not (self._parts or self._data or self._name)

    def _lines(self, text: bytes) -> list[Event]:
        if self._at_start:
            text = text.removeprefix(_BOM)
            self._at_start = False
        events: list[Event] = []
        lines = text.splitlines()
        if text and text[-1] in b"\r\n":
            self._parts = []
        else:
            self._parts = [lines.pop()] if lines else []
        self._after_cr = text.endswith(b"\r")
        for line in lines:
            if line:
                self._field(line)
                continue
            if self._data:
                events.append((self._name, b"\n".join(self._data)))
            self._data, self._name = [], ""
        self._size = sum(map(len, self._parts)) + sum(map(len, self._data))
        self._check()
        return events

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value[:64].decode("utf-8", "replace")

    def _check(self) -> None:
        if self._size > self._max:
            raise EventTooLarge
