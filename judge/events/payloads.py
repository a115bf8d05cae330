"""Names and payloads of the server's events."""

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events of one session."""

    type: ClassVar[str]
    session_id: int

    def payload(self) -> dict[str, Any]:
        """The event as JSON-ready dictionary, still without its seq."""
        return {"type": self.type, **vars(self)}


@dataclass(frozen=True, kw_only=True)
class ComparisonStarted(Event):
    """A lane claimed a comparison. thread_a and pillar_a are what stands in slot A of this presentation."""

    type: ClassVar[str] = "judge:comparison_start"
    worker_id: int
    comparison_id: int
    position_order: int
    thread_a_id: int
    thread_b_id: int
    pillar_a: int
    pillar_b: int


@dataclass(frozen=True, kw_only=True)
class LLMStream(Event):
    """A piece of the answer: ``token`` begins at character ``offset`` of the answer so far.

    ``claim_token`` tells one attempt from the next; an offset of 0 starts the answer anew (a re-ask or a retry).
    """

    type: ClassVar[str] = "judge:llm_stream"
    worker_id: int
    comparison_id: int
    claim_token: str
    offset: int
    token: str


@dataclass(frozen=True, kw_only=True)
class ComparisonCompleted(Event):
    """A verdict is stored. ``winner`` names the slot (A, B or TIE) as the judge saw it."""

    type: ClassVar[str] = "judge:comparison_complete"
    worker_id: int
    comparison_id: int
    winner: str
    confidence: float


@dataclass(frozen=True, kw_only=True)
class ComparisonFailed(Event):
    """An attempt failed for good (``will_retry`` false) or is tried again."""

    type: ClassVar[str] = "judge:comparison_failed"
    worker_id: int
    comparison_id: int
    error_code: str
    will_retry: bool


@dataclass(frozen=True, kw_only=True)
class ProgressChanged(Event):
    """Status or counters changed."""

    type: ClassVar[str] = "judge:progress"
    status: str
    status_reason: str
    completed: int
    failed: int
    total: int


@dataclass(frozen=True, kw_only=True)
class ResultsUpdated(Event):
    """Derived results were computed anew."""

    type: ClassVar[str] = "judge:results_updated"
    evaluations_seen: int


@dataclass(frozen=True, kw_only=True)
class SessionComplete(Event):
    """The session reached completed, failed or aborted."""

    type: ClassVar[str] = "judge:session_complete"
    status: str
