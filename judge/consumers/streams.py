"""Which piece of which answer a page has already got."""

from dataclasses import dataclass
from typing import Any

from judge.selectors.lanes import Lane


@dataclass(frozen=True)
class Shown:
    """The answer a lane shows: of which attempt, and how many characters of it."""

    comparison_id: int | None
    claim_token: str
    length: int


NOTHING = Shown(None, "", 0)


class Streams:
    """Tells which part of a streamed piece is new for the page, by (comparison, claim_token, offset)."""

    def __init__(self) -> None:
        self._shown: dict[int, Shown] = {}
        # Attempts that the database no longer knows: late pieces of theirs must not redraw a lane again and again.
        self._past: dict[int, tuple[int, str]] = {}

    def drawn(self, worker_id: int, shown: Shown) -> None:
        """A lane was drawn with the answer as far as it was."""
        self._shown[worker_id] = shown

    def started(self, worker_id: int) -> None:
        """A lane claimed a comparison, possibly one it had before."""
        self._past.pop(worker_id, None)

    def new_text(self, event: dict[str, Any]) -> str | None:
        """What of a judge:llm_stream is to be appended; None when the lane has to be drawn again first."""
        worker_id, attempt = event["worker_id"], (event["comparison_id"], event["claim_token"])
        shown = self._shown.get(worker_id, NOTHING)
        if (shown.comparison_id, shown.claim_token) != attempt:
            if self._past.get(worker_id) == attempt:
                return ""
            self._past[worker_id] = attempt
            return None
        offset, token = event["offset"], event["token"]
        if offset > shown.length or (offset == 0 and shown.length):
            # A piece is missing, or the answer began anew.
            return None
        fresh = token[shown.length - offset :]
        self._shown[worker_id] = Shown(*attempt, shown.length + len(fresh))
        return fresh


def shown_by(lane: Lane) -> Shown:
    """What a lane shows that was drawn from this."""
    if lane.comparison is None:
        return NOTHING
    return Shown(lane.comparison.pk, str(lane.comparison.claim_token), len(lane.stream_text))
