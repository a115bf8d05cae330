"""Why a session stands still or goes slowly: codes with what belongs to them, derived from what was read of it.

Pure: no queries here. Words for the codes are in judge.wording.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

from django.utils.formats import time_format
from django.utils.functional import Promise
from django.utils.timezone import localtime

from judge import wording
from judge.domain.limits import TROUBLED
from judge.domain.states import SessionStatus
from judge.models import JudgeSession, SessionJudge
from judge.models.session import LIVE_STATUSES
from judge.selectors.in_lanes import InLane
from judge.selectors.provider_load import ProviderLoad

# A claim follows its wake-up within a second, a lost wake-up is made good within ten (recover): this is longer.
PATIENCE_SECONDS: Final = 30.0
# Recovery takes expired leases back every ten seconds.
RECOVERY_PATIENCE_SECONDS: Final = 60.0
# Recovery asks for a plan that lost its writer after half a minute, and choosing among many threads takes a while.
PLAN_PATIENCE_SECONDS: Final = 60.0
# What goes away without anybody doing anything.
PASSING: Final = frozenset(
    {
        "lease_expired",
        "not_taken_yet",
        "plan_expected",
        "provider_cooling",
        "breaker_open",
        "paused_until_back",
        "slots_taken",
    }
)


@dataclass(frozen=True)
class Cause:
    """One reason. Only what belongs to ``code`` is set; ``reason`` is the ErrorCode behind it, where there is one."""

    code: str
    reason: str = ""
    worker_id: int | None = None
    comparison_id: int | None = None
    judge_id: int | None = None
    judge: str = ""
    provider_id: int | None = None
    provider: str = ""
    seconds: int | None = None
    until: datetime | None = None
    places: int | None = None
    taken_by_others: int | None = None

    @property
    def passes_by_itself(self) -> bool:
        """Whether it goes away without anybody doing anything."""
        return self.code in PASSING

    @property
    def text(self) -> str | Promise:
        """A sentence for people, in the language that is active."""
        return wording.cause(
            self.code,
            reason=wording.words(wording.REASON_WORDS, self.reason),
            lane=None if self.worker_id is None else self.worker_id + 1,
            judge=self.judge,
            provider=self.provider,
            seconds=self.seconds,
            until=time_format(localtime(self.until), "H:i:s") if self.until else "",
            places=self.places,
            others=self.taken_by_others,
        )


@dataclass(frozen=True)
class Facts:
    """What was read of a session. ``waiting``: session judge ids with pending comparisons. ``standstill``: seconds
    since the last start, claim or end, None when nothing of it is known since the session was resumed;
    ``plan_standstill``: the same, parts written of its plan included."""

    session: JudgeSession
    counters_match: bool
    running: tuple[InLane, ...]
    judges: tuple[SessionJudge, ...]
    waiting: frozenset[int]
    loads: dict[int, ProviderLoad] = field(default_factory=dict)
    standstill: float | None = 0.0
    plan_standstill: float | None = 0.0

    def of(self, judge: SessionJudge) -> ProviderLoad:
        """The load of a judge's provider."""
        return self.loads[judge.model.provider_id]


def causes(facts: Facts) -> list[Cause]:
    """Every reason why the session is not simply being judged; what somebody must do something about comes first."""
    found = [*_of_status(facts), *_of_leases(facts)]
    if not facts.counters_match:
        found.append(Cause("counters_mismatch"))
    if facts.session.status in (*LIVE_STATUSES, SessionStatus.PAUSED):
        found += [*_of_judges(facts), *_of_providers(facts)]
    if facts.session.status in LIVE_STATUSES:
        found += [*_of_workers(facts), *_of_plan(facts)]
    return sorted(found, key=lambda cause: cause.passes_by_itself)


def _of_status(facts: Facts) -> Iterator[Cause]:
    status, reason = facts.session.status, facts.session.status_reason
    if status == SessionStatus.FAILED:
        yield Cause("nothing_judged", reason="" if reason == "nothing_judged" else reason)
    elif status == SessionStatus.PAUSED and not reason:
        yield Cause("paused")
    elif status == SessionStatus.PAUSED:
        # The probe that closes the breaker resumes what the breaker paused.
        comes_back = reason in TROUBLED and any(facts.of(judge).is_open for judge in _waiting(facts))
        yield Cause("paused_until_back" if comes_back else "paused_because", reason=reason)


def _of_leases(facts: Facts) -> Iterator[Cause]:
    for held in facts.running:
        late = -held.lease_seconds_left
        if late > 0:
            code = "lease_expired" if late <= RECOVERY_PATIENCE_SECONDS else "not_recovered"
            yield Cause(code, worker_id=held.worker_id, comparison_id=held.comparison_id, seconds=int(late))


def _of_judges(facts: Facts) -> Iterator[Cause]:
    """Judges that were stopped, unless that is their provider's breaker, which is said once per provider."""
    for judge in _waiting(facts):
        by_breaker = judge.stop_reason in TROUBLED and facts.of(judge).is_open
        if judge.stop_reason and not by_breaker:
            yield Cause(
                "judge_stopped",
                reason=judge.stop_reason,
                judge_id=judge.pk,
                judge=judge.model.model_name,
                provider_id=judge.model.provider_id,
                provider=facts.of(judge).name,
            )


def _of_providers(facts: Facts) -> Iterator[Cause]:
    """Once per provider that a judge of the session waits for."""
    has_idle_lane = len(facts.running) < facts.session.worker_count
    usable = {judge.model.provider_id for judge in _usable(facts)}
    for load in {facts.of(judge).provider_id: facts.of(judge) for judge in _waiting(facts)}.values():
        at = partial(Cause, provider_id=load.provider_id, provider=load.name)
        if load.is_open:
            yield at("breaker_open", reason=load.breaker_reason)
        elif load.provider_id not in usable:
            continue
        elif load.is_resting:
            yield at("provider_cooling", reason=load.rest_reason, until=load.rests_until)
        elif load.is_full and has_idle_lane:
            others = load.running - sum(held.provider_id == load.provider_id for held in facts.running)
            if others > 0:
                yield at("slots_taken", places=load.limit, taken_by_others=others)


def _of_workers(facts: Facts) -> Iterator[Cause]:
    """Work waits, may be judged, and no lane has any."""
    callable_now = [judge for judge in _usable(facts) if not _is_kept_away(facts.of(judge))]
    if facts.running or not callable_now:
        return
    if facts.standstill is None:
        yield Cause("not_taken_yet")
    elif facts.standstill > PATIENCE_SECONDS:
        yield Cause("no_worker", seconds=int(facts.standstill))


def _of_plan(facts: Facts) -> Iterator[Cause]:
    """Nothing waits and no lane has any, and yet more is to come: its plan is being written, or grows."""
    if facts.running or facts.waiting or facts.session.is_planned:
        return
    since = facts.plan_standstill
    if since is None or since <= PLAN_PATIENCE_SECONDS:
        yield Cause("plan_expected")
    else:
        yield Cause("plan_missing", seconds=int(since))


def _waiting(facts: Facts) -> list[SessionJudge]:
    return [judge for judge in facts.judges if judge.pk in facts.waiting]


def _usable(facts: Facts) -> list[SessionJudge]:
    return [judge for judge in _waiting(facts) if not judge.stop_reason]


def _is_kept_away(load: ProviderLoad) -> bool:
    return load.is_open or load.is_resting or load.is_full
