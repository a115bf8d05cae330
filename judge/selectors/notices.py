"""What a session's live page says of judges and providers that stand still."""

from typing import Final

from django.db.models import Exists, OuterRef

from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession, SessionJudge
from judge.models.session import LIVE_STATUSES
from judge.selectors.causes import Cause, Facts, causes
from judge.selectors.provider_load import provider_loads

SHOWN: Final = frozenset({"judge_stopped", "provider_cooling", "breaker_open"})


def notices(session: JudgeSession) -> list[Cause]:
    """Judges that are stopped, providers that rest, breakers that are open, as far as work waits for them.

    Two queries for a session that is to be judged or paused, none for others.
    """
    if session.status not in (*LIVE_STATUSES, SessionStatus.PAUSED):
        return []
    # Served by comparison_first.
    pending = JudgeComparison.objects.filter(judge=OuterRef("pk"), status=ComparisonStatus.PENDING)
    judges = SessionJudge.objects.filter(session=session).select_related("model").annotate(waits=Exists(pending))
    shown = tuple(judges)
    facts = Facts(
        session=session,
        counters_match=True,
        running=(),
        judges=shown,
        waiting=frozenset(judge.pk for judge in shown if judge.waits),
        loads=provider_loads({judge.model.provider_id for judge in shown}),
    )
    return [cause for cause in causes(facts) if cause.code in SHOWN]
