"""Whether a session is doing well: counted from the rows, so that it shows what counters would hide."""

from dataclasses import dataclass, replace

from django.db.models import Count, Exists, OuterRef, Q

from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession, SessionJudge
from judge.models.session import LIVE_STATUSES
from judge.selectors.causes import Cause, Facts, causes
from judge.selectors.depth import seconds_between, with_last_sign
from judge.selectors.in_lanes import InLane, in_lanes
from judge.selectors.provider_load import provider_loads
from llars.reach import redis_answers

_UNTAKEN = ("no_worker", "not_taken_yet", "plan_missing")
_COUNTERS = ("completed_comparisons", "failed_comparisons", "planned_comparisons")


@dataclass(frozen=True)
class Health:
    """``state``: "working" when lanes judge and nothing is wrong, "waiting" when what holds it up passes by itself,
    "stuck" when somebody must do something, "idle" when it is not to be judged (created, paused by a person, ended).

    ``status_reason``: why it stands still. ``counters_match``: the session's counters say the same as its rows.
    ``running``: what the lanes hold. ``causes``: why it does not go on, or not faster.
    """

    session_id: int
    status: str
    status_reason: str
    state: str
    comparisons: dict[str, int]
    counters_match: bool
    running: tuple[InLane, ...]
    causes: tuple[Cause, ...]
    errors: dict[str, int]


def health(session: JudgeSession) -> Health:
    """Read the health of a session (six queries, and a ping of Redis where no worker takes what waits)."""
    counts, counters_match = _counts(session)
    facts = _facts(session, counters_match)
    why = tuple(_with_broker(cause) for cause in causes(facts))
    return Health(
        session_id=session.pk,
        status=session.status,
        status_reason=session.status_reason,
        state=_state(session, why),
        comparisons=counts,
        counters_match=counters_match,
        running=facts.running,
        causes=why,
        errors=_errors(session),
    )


def _counts(session: JudgeSession) -> tuple[dict[str, int], bool]:
    """Comparisons per status, and whether the counters say the same: read in one statement, since lanes and the plan's
    writer move both all the time."""
    rows = {status.value: Count("comparisons", filter=Q(comparisons__status=status)) for status in ComparisonStatus}
    found = JudgeSession.objects.filter(pk=session.pk).order_by("pk").values(*_COUNTERS).annotate(**rows).first()
    if found is None:  # deleted since
        return {status.value: 0 for status in ComparisonStatus}, True
    completed, failed, planned = (found.pop(counter) for counter in _COUNTERS)
    counts: dict[str, int] = dict(found)
    is_equal = counts["completed"] == completed and counts["failed"] == failed and sum(counts.values()) == planned
    return counts, is_equal


def _facts(session: JudgeSession, counters_match: bool) -> Facts:
    # Served by comparison_first.
    pending = JudgeComparison.objects.filter(judge=OuterRef("pk"), status=ComparisonStatus.PENDING)
    judges = SessionJudge.objects.filter(session=session).select_related("model").annotate(waits=Exists(pending))
    shown = tuple(judges)
    standstill, plan_standstill = _standstills(session)
    return Facts(
        session=session,
        counters_match=counters_match,
        running=tuple(in_lanes(JudgeComparison.objects.filter(session=session))),
        judges=shown,
        waiting=frozenset(judge.pk for judge in shown if judge.waits),
        loads=provider_loads({judge.model.provider_id for judge in shown}),
        standstill=standstill,
        plan_standstill=plan_standstill,
    )


def _standstills(session: JudgeSession) -> tuple[float | None, float | None]:
    """Seconds without a sign, and without a sign or a part of the plan; None for a resumed session that nobody has
    claimed from, since its resume has no time."""
    if session.status == SessionStatus.QUEUED and session.finished_comparisons:
        return None, None
    rows = with_last_sign(JudgeSession.objects.filter(pk=session.pk))
    for last, written, moment in rows.values_list("last_sign", "plan_written_at", "moment"):
        still = seconds_between(last, moment)
        return still, min(still, seconds_between(written, moment)) if written else still
    return 0.0, 0.0


def _with_broker(cause: Cause) -> Cause:
    """Where no worker takes anything, Redis being away is the likelier reason than no worker being there."""
    return replace(cause, code="broker_away") if cause.code in _UNTAKEN and not redis_answers() else cause


def _state(session: JudgeSession, why: tuple[Cause, ...]) -> str:
    hindrances = [cause for cause in why if cause.code != "paused"]
    if hindrances:
        return "waiting" if all(cause.passes_by_itself for cause in hindrances) else "stuck"
    return "working" if session.status in LIVE_STATUSES else "idle"


def _errors(session: JudgeSession) -> dict[str, int]:
    failed = JudgeComparison.objects.filter(session=session).exclude(error_code="").order_by()
    return dict(failed.values_list("error_code").annotate(n=Count("pk")).order_by("-n", "error_code"))
