"""What the queue should do, in plain Python: it predicts the outcome of every call of the state machine's test."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from uuid import UUID

from judge.domain.limits import TROUBLED
from judge.domain.states import ACTION_SOURCES, ACTION_TARGETS, ComparisonStatus, SessionStatus

C, S = ComparisonStatus, SessionStatus
LIVE = (S.QUEUED, S.RUNNING)
POISON_AFTER = 3


@dataclass(frozen=True)
class Row:
    """One comparison as it should stand in the database."""

    position: int
    judge: int
    status: str = C.PENDING
    token: UUID | None = None
    lane: int | None = None
    provider: int | None = None
    slot: int | None = None
    attempts: int = 0
    lost_leases: int = 0
    error: str = ""
    is_expired: bool = False

    @property
    def is_running(self) -> bool:
        """Whether a lane holds it."""
        return self.status == C.RUNNING


def let_go(row: Row, status: str, **changes: object) -> Row:
    """The row after its lane's claim ended."""
    values = {"status": status, "token": None, "provider": None, "slot": None, "is_expired": False}
    return replace(row, **(values | changes))  # type: ignore[arg-type]


@dataclass
class Place:
    """A provider: how many calls it takes at once by its settings and at present, and whether it may be called."""

    allowed: int
    adapted: int | None = None
    rests: bool = False
    is_broken: bool = False

    @property
    def limit(self) -> int:
        """Calls at once, now."""
        return min(self.allowed, self.allowed if self.adapted is None else self.adapted)


@dataclass
class QueueModel:
    """A session with its comparisons, judges and providers. ``judges``: judge -> provider."""

    rows: dict[int, Row]
    judges: dict[int, int]
    places: dict[int, Place]
    workers: int
    status: str = S.CREATED
    reason: str = ""
    stopped: dict[int, str] = field(default_factory=dict)

    def count(self, status: str) -> int:
        """How many comparisons are in this state."""
        return sum(row.status == status for row in self.rows.values())

    def running(self) -> list[Row]:
        """What the lanes hold."""
        return [row for row in self.rows.values() if row.is_running]

    def holder_of(self, token: UUID) -> int | None:
        """The comparison that this token still holds."""
        return next((pk for pk, row in self.rows.items() if row.token == token), None)

    def free_slot(self, provider: int, lane: int = 0) -> int | None:
        """The place of the lane's own number at a provider if it is free, else the lowest free one."""
        taken = {row.slot for row in self.running() if row.provider == provider}
        free = [slot for slot in range(self.places[provider].limit) if slot not in taken]
        return lane if lane in free else next(iter(free), None)

    def claimable(self) -> list[int]:
        """Waiting comparisons that a free lane may take now, the one that it must take first.

        Of each judge that may be called only the first in the queue; of those that of the judge with the fewest lanes.
        """
        firsts = []
        for judge, provider in self.judges.items():
            place, waiting = self.places[provider], self._waiting(judge)
            is_able = not (judge in self.stopped or place.rests or place.is_broken) and self.status in LIVE
            if waiting and is_able and self.free_slot(provider) is not None:
                lanes = sum(row.judge == judge for row in self.running())
                firsts.append((lanes, self.rows[waiting[0]].position, waiting[0]))
        return [pk for _, _, pk in sorted(firsts)]

    def _waiting(self, judge: int) -> list[int]:
        mine = [(row.position, pk) for pk, row in self.rows.items() if row.judge == judge and row.status == C.PENDING]
        return [pk for _, pk in sorted(mine)]

    def next_for(self, lane: int) -> int | None:
        """What a wake-up of this lane takes."""
        if lane >= self.workers or any(row.lane == lane for row in self.running()):
            return None
        return next(iter(self.claimable()), None)

    def claim(self, pk: int, lane: int, token: UUID) -> None:
        """A lane took a comparison."""
        row = self.rows[pk]
        provider = self.judges[row.judge]
        self.rows[pk] = replace(
            row,
            status=C.RUNNING,
            token=token,
            lane=lane,
            provider=provider,
            slot=self.free_slot(provider, lane),
            attempts=row.attempts + 1,
        )
        self.status = S.RUNNING

    def finish(self, token: UUID, status: str, error: str = "") -> bool:
        """A verdict or a final failure; whether it counts."""
        pk = self.holder_of(token)
        if pk is None:
            return False
        self.rows[pk] = let_go(self.rows[pk], status, error=error)
        self._conclude()
        return True

    def release(self, token: UUID) -> bool:
        """A lane gives back what it holds, and the attempt with it."""
        pk = self.holder_of(token)
        if pk is not None:
            self.rows[pk] = let_go(self.rows[pk], C.PENDING, attempts=self.rows[pk].attempts - 1)
        return pk is not None

    def mark_expired(self, tokens: Collection[UUID], is_expired: bool) -> None:
        """The leases behind the tokens ran out, or were extended."""
        for pk, row in self.rows.items():
            if row.token in tokens:
                self.rows[pk] = replace(row, is_expired=is_expired)

    def stop_judge(self, judge: int, reason: str) -> None:
        """A provider's problem: this judge of a live session is not called again until somebody resumes it."""
        if self.status in LIVE and judge not in self.stopped:
            self.stopped[judge] = reason
            self._pause_if_stuck()

    def recover(self, breaker_reason: str) -> tuple[int, int]:
        """Expired leases come back, or fail as poison: (given back, poisoned). Judges behind an open breaker stop."""
        given_back = poisoned = 0
        for pk, row in self.rows.items():
            if row.is_running and row.is_expired and row.lost_leases + 1 >= POISON_AFTER:
                self.rows[pk] = let_go(row, C.FAILED, error="poison")
                poisoned += 1
            elif row.is_running and row.is_expired:
                self.rows[pk] = let_go(row, C.PENDING, lost_leases=row.lost_leases + 1)
                given_back += 1
        if poisoned:
            self._conclude()
        for judge, provider in self.judges.items():
            if self.places[provider].is_broken:
                self.stop_judge(judge, breaker_reason)
        self._pause_if_stuck()
        return given_back, poisoned

    def try_providers_again(self, action: str) -> None:
        """Who wants a session to run wants its silent providers to be called again, at first one call at a time."""
        if ACTION_TARGETS[action] != S.QUEUED or S(self.status) not in ACTION_SOURCES[action]:
            return
        for provider in self.judges.values():
            if self.places[provider].is_broken:
                self.places[provider].is_broken, self.places[provider].adapted = False, 1
                self._free_judges_at(provider)

    def _free_judges_at(self, provider: int) -> None:
        for judge, reason in list(self.stopped.items()):
            if self.judges[judge] == provider and reason in TROUBLED:
                del self.stopped[judge]

    def may(self, action: str) -> bool:
        """Whether a person's action is accepted now."""
        allowed = S(self.status) in ACTION_SOURCES[action]
        return allowed and (action != "retry_failed" or self.count(C.FAILED) > 0)

    def act(self, action: str) -> None:
        """A person's action that is accepted."""
        if action == "retry_failed" or (action == "resume" and self.status == S.FAILED):
            for pk, row in self.rows.items():
                if row.status == C.FAILED:
                    self.rows[pk] = replace(row, status=C.PENDING, error="", lost_leases=0)
        if action == "abort":
            for pk, row in self.rows.items():
                if row.is_running:
                    self.rows[pk] = let_go(row, C.PENDING)
        if action in ("start", "resume", "retry_failed"):
            self.stopped.clear()
        self.status, self.reason = ACTION_TARGETS[action], ""

    def _pause_if_stuck(self) -> None:
        """A live session pauses when only stopped judges have work left, for the reason of the one stopped last."""
        left = {row.judge for row in self.rows.values() if row.status in (C.PENDING, C.RUNNING)}
        if self.status in LIVE and left and left <= self.stopped.keys():
            self.status = S.PAUSED
            self.reason = next(reason for judge, reason in reversed(self.stopped.items()) if judge in left)

    def _conclude(self) -> None:
        if self.count(C.COMPLETED) + self.count(C.FAILED) == len(self.rows):
            self.status, self.reason = (S.COMPLETED, "") if self.count(C.COMPLETED) else (S.FAILED, "nothing_judged")
