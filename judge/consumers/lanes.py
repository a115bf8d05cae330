"""The lanes of one session as a watcher sees them, kept up to date by events instead of by queries."""

from dataclasses import asdict
from typing import Any

from judge.models import JudgeSession
from judge.selectors.workers import worker_state, workers_status

COUNTS = ("completed", "failed", "total")


class LaneBoard:
    """Begins with what the database says and follows the events; several events make one judge:workers_status.

    Events may be older than the database was when it was read; they end where the newest one leads all the same.
    ``stale``: something happened that takes comparisons out of lanes without an event for each (a pause, an abort, the
    end), so the database must be read again.
    """

    def __init__(self, session: JudgeSession) -> None:
        state = workers_status(session)
        self._session_id = session.pk
        self._status = session.status
        self._running = {lane.worker_id: lane.comparison_id for lane in state.workers}
        self._counts = {name: getattr(state, name) for name in COUNTS}
        self.changed = True
        self.stale = False

    def apply(self, event: dict[str, Any]) -> None:
        """Take one event into account."""
        kind = event.get("type")
        if kind == "judge:comparison_start":
            self._set(event["worker_id"], event["comparison_id"])
        elif kind == "judge:comparison_complete" or (kind == "judge:comparison_failed" and not event["will_retry"]):
            if self._running.get(event["worker_id"]) == event["comparison_id"]:
                self._set(event["worker_id"], None)
        elif kind == "judge:session_complete":
            self.stale = True
        elif kind == "judge:progress":
            self._count({name: event[name] for name in COUNTS}, event["status"])

    def message(self) -> dict[str, Any]:
        """The judge:workers_status of this moment."""
        self.changed = False
        busy = sum(comparison is not None for comparison in self._running.values())
        open_ones = self._counts["total"] - self._counts["completed"] - self._counts["failed"]
        return {
            "type": "judge:workers_status",
            "session_id": self._session_id,
            "workers": [asdict(worker_state(*lane)) for lane in sorted(self._running.items())],
            "queue_pending": max(0, open_ones - busy),
            **self._counts,
        }

    def _set(self, worker_id: int, comparison_id: int | None) -> None:
        if worker_id in self._running and self._running[worker_id] != comparison_id:
            self._running[worker_id] = comparison_id
            self.changed = True

    def _count(self, counts: dict[str, int], status: str) -> None:
        self.changed = self.changed or counts != self._counts
        self.stale = self.stale or status != self._status
        self._counts, self._status = counts, status
