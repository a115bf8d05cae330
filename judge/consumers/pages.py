"""What a live page still has to be sent: which parts are out of date, and when each may be drawn again."""

import asyncio
from typing import Any

from judge.consumers.streams import Shown, Streams

# Seconds between two drawings of a part. Nobody reads faster, and the parts cost queries.
# A status that changes is told at once (outdate_all); this is the pause between two looks at judges and providers.
PAUSES = {"state": 2.0, "actions": 0.0, "progress": 0.5, "queue": 1.0, "history": 1.0}
LANE_PAUSE = 0.2
LANE_EVENTS = ("judge:comparison_start", "judge:comparison_complete", "judge:comparison_failed")


class PageState:
    """Follows the events of one session for one page. Parts are named as in ``judge.consumers.drawing``."""

    def __init__(self, worker_count: int, status: str, has_results: bool) -> None:
        self._workers = [str(number) for number in range(worker_count)]
        self._status = status
        self._has_results = has_results
        self._seq: int | None = None
        self._streams = Streams()
        self._outdated: set[str] = set()
        self._due: dict[str, float] = {}
        self._pieces: dict[int, str] = {}

    def take_all(self, events: list[dict[str, Any]]) -> bool:
        """Take events into account. False: something is missing, the whole page has to be sent."""
        complete = True
        for event in events:  # to the last one, also after a gap: the count goes on from there
            complete = self._take(event) and complete
        return complete

    def _take(self, event: dict[str, Any]) -> bool:
        seq = event.get("seq")
        follows = seq is not None and (self._seq is None or seq == self._seq + 1)
        self._seq = seq
        if not follows:
            return False
        kind = event["type"]
        if kind == "judge:llm_stream":
            self._take_piece(event)
        elif kind in LANE_EVENTS:
            self._redraw_lane(event["worker_id"])
            # A judge may have been stopped, a provider may rest or be called again.
            self._outdated.add("state")
            self._outdated |= {"queue"} if kind == LANE_EVENTS[0] else {"history", "progress"}
            if kind == LANE_EVENTS[0]:
                self._streams.started(event["worker_id"])
        elif kind == "judge:progress":
            self._take_progress(event)
        elif kind == "judge:session_complete":
            self.outdate_all()
        return True

    def follow_on(self, page: "PageState") -> None:
        """Count the events on from where an older state of the same page was."""
        self._seq = page._seq

    def _take_piece(self, event: dict[str, Any]) -> None:
        worker_id = event["worker_id"]
        if str(worker_id) in self._outdated:
            return  # the drawing that is due will hold it
        text = self._streams.new_text(event)
        if text is None:
            self._redraw_lane(worker_id)
        elif text:
            self._pieces[worker_id] = self._pieces.get(worker_id, "") + text

    def _redraw_lane(self, worker_id: int) -> None:
        self._outdated.add(str(worker_id))
        self._pieces.pop(worker_id, None)

    def _take_progress(self, event: dict[str, Any]) -> None:
        self._outdated |= {"progress", "state"}
        if event["status"] != self._status:
            self._status = event["status"]
            self.outdate_all()
        if event["completed"] and not self._has_results:
            self._has_results = True
            self._outdated.add("actions")

    def outdate_all(self) -> None:
        """Everything has to be drawn, at once."""
        self._outdated = {*PAUSES, *self._workers}
        self._due.clear()
        self._pieces.clear()

    def pieces(self) -> dict[int, str]:
        """Text to append, by worker; each is told once."""
        taken, self._pieces = self._pieces, {}
        return taken

    def due(self) -> list[str]:
        """Parts to draw now, state and buttons first; each is told once."""
        now = asyncio.get_running_loop().time()
        names = [name for name in (*PAUSES, *self._workers) if name in self._outdated and self._due.get(name, 0) <= now]
        self._outdated -= set(names)
        for name in names:
            self._due[name] = now + PAUSES.get(name, LANE_PAUSE)
        return names

    def next_due(self) -> float | None:
        """The loop's time at which the next part may be drawn; None when nothing is out of date."""
        return min((self._due.get(name, 0) for name in self._outdated), default=None)

    def drawn(self, shown: dict[int, Shown]) -> None:
        """Lanes were sent as they were drawn."""
        for worker_id, lane in shown.items():
            self._streams.drawn(worker_id, lane)
