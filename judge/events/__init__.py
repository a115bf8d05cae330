"""Everything that is broadcast: names, typed payloads, and how they travel.

The database is the record; an event only says that something is worth reading again. Each event of a session carries a
growing ``seq``; whoever sees a gap, or a number that does not grow, reads the snapshot. Imports nothing of ours.
"""

from judge.events.payloads import (
    ComparisonCompleted,
    ComparisonFailed,
    ComparisonStarted,
    Event,
    LLMStream,
    ProgressChanged,
    ResultsUpdated,
    SessionComplete,
)
from judge.events.post import forget_soon, publish_soon
from judge.events.publisher import partial_answer, publish

__all__ = [
    "ComparisonCompleted",
    "ComparisonFailed",
    "ComparisonStarted",
    "Event",
    "LLMStream",
    "ProgressChanged",
    "ResultsUpdated",
    "SessionComplete",
    "forget_soon",
    "partial_answer",
    "publish",
    "publish_soon",
]
