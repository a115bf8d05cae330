"""States of sessions and comparisons, and the one table of the moves between them."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final


class SessionStatus(StrEnum):
    """Where a session stands."""

    CREATED = "created"
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    ABORTED = "aborted"


class ComparisonStatus(StrEnum):
    """Where one comparison stands."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"


class Winner(StrEnum):
    """Which of the two presented texts the judge prefers; A is the one shown first."""

    A = "A"
    B = "B"
    TIE = "TIE"


class ComparisonMode(StrEnum):
    """Which threads meet each other."""

    PILLAR_SAMPLE = "pillar_sample"
    ROUND_ROBIN = "round_robin"
    FREE_FOR_ALL = "free_for_all"
    ADAPTIVE = "adaptive"


class SamplingStrategy(StrEnum):
    """How pillar_sample draws its threads."""

    FIXED = "fixed"
    ROTATING = "rotating"
    BOOTSTRAP = "bootstrap"
    PROPORTIONAL = "proportional"


class PlanEnd(StrEnum):
    """Why an adaptive plan ended before its budget was spent."""

    SEPARATED = "separated"
    EXHAUSTED = "exhausted"


_S = SessionStatus
_C = ComparisonStatus

SESSION_MOVES: Final[Mapping[SessionStatus, frozenset[SessionStatus]]] = MappingProxyType(
    {
        _S.CREATED: frozenset({_S.QUEUED, _S.ABORTED}),
        # Completed without running: the retried comparisons were all deleted, or the last one ended during recovery.
        _S.QUEUED: frozenset({_S.RUNNING, _S.PAUSED, _S.COMPLETED, _S.FAILED, _S.ABORTED}),
        _S.RUNNING: frozenset({_S.PAUSED, _S.COMPLETED, _S.FAILED, _S.ABORTED}),
        # A pause lets running comparisons finish, so the last one may end while the session is paused.
        _S.PAUSED: frozenset({_S.QUEUED, _S.COMPLETED, _S.FAILED, _S.ABORTED}),
        _S.COMPLETED: frozenset({_S.QUEUED}),
        _S.FAILED: frozenset({_S.QUEUED, _S.ABORTED}),
        _S.ABORTED: frozenset(),
    }
)

COMPARISON_MOVES: Final[Mapping[ComparisonStatus, frozenset[ComparisonStatus]]] = MappingProxyType(
    {
        _C.PENDING: frozenset({_C.RUNNING}),
        _C.RUNNING: frozenset({_C.PENDING, _C.COMPLETED, _C.FAILED}),
        _C.COMPLETED: frozenset(),
        _C.FAILED: frozenset({_C.PENDING}),
    }
)

ACTION_TARGETS: Final[Mapping[str, SessionStatus]] = MappingProxyType(
    {"start": _S.QUEUED, "pause": _S.PAUSED, "resume": _S.QUEUED, "abort": _S.ABORTED, "retry_failed": _S.QUEUED}
)

# Three actions lead to queued; the table alone cannot tell them apart, so each names the states it speaks of.
_ACTION_SCOPE: Final[Mapping[str, frozenset[SessionStatus]]] = {
    "start": frozenset({_S.CREATED}),
    "resume": frozenset({_S.PAUSED, _S.FAILED}),
    "retry_failed": frozenset({_S.COMPLETED, _S.FAILED}),
}


def _sources(action: str) -> frozenset[SessionStatus]:
    scope = _ACTION_SCOPE.get(action, frozenset(SessionStatus))
    return frozenset(status for status in scope if ACTION_TARGETS[action] in SESSION_MOVES[status])


ACTION_SOURCES: Final[Mapping[str, frozenset[SessionStatus]]] = MappingProxyType(
    {action: _sources(action) for action in ACTION_TARGETS}
)
