"""What was seen while a session ran."""

import time
from collections import Counter
from dataclasses import dataclass, field

from judge.domain.states import ComparisonStatus
from judge.models import JudgeComparison, JudgeSession
from tests.chaos.schedule import Fault


@dataclass
class Story:
    """Samples of a running session, and what was done to it."""

    faults: Counter[Fault] = field(default_factory=Counter)
    lanes_at_once: int = 0
    lanes_seen: set[int] = field(default_factory=set)
    statuses: list[tuple[str, str]] = field(default_factory=list)
    longest_standstill: float = 0.0
    poisoned: int = 0
    unjustly_poisoned: int = 0
    rescued_sessions: int = 0
    ended_by_themselves: int = 0
    judged: int = 0
    began: float = field(default_factory=time.monotonic)
    _progressed: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Since the beginning."""
        return time.monotonic() - self.began

    @property
    def standstill(self) -> float:
        """Seconds since the last verdict."""
        return time.monotonic() - self._progressed

    def sample(self, session: JudgeSession) -> None:
        """Look at the session and at the rows that are in lanes now."""
        session.refresh_from_db()
        lanes = list(
            JudgeComparison.objects.filter(session=session, status=ComparisonStatus.RUNNING)
            .order_by()
            .values_list("worker_id", flat=True)
        )
        self.lanes_at_once = max(self.lanes_at_once, len(lanes))
        self.lanes_seen |= {lane for lane in lanes if lane is not None}
        status = (str(session.status), session.status_reason)
        if not self.statuses or self.statuses[-1] != status:
            self.statuses.append(status)
        self.longest_standstill = max(self.longest_standstill, self.standstill)
        if session.completed_comparisons > self.judged:
            self.judged, self._progressed = session.completed_comparisons, time.monotonic()
