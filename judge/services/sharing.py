"""Sessions that share a provider take turns at its places."""

from django.db.models import Exists, OuterRef

from judge.domain.states import ComparisonStatus
from judge.models import JudgeComparison, JudgeModel, JudgeSession, SessionJudge
from judge.services.wakeups import wake_lane

# So many sessions are woken by one lane that makes room; the next lane wakes the next ones.
MOST_WOKEN = 5


def wake_starving(session_id: int) -> None:
    """A lane of this session makes room: wake sessions at its providers that have work there and no lane at all.

    They found all places taken, and a lane that claims again within milliseconds of its verdict would never let them
    in. Their message is ahead of the one that wakes this lane again (two queries at most, every few seconds).
    """
    mine = JudgeModel.objects.filter(session_judges__session=session_id).values("provider")
    waiting = JudgeComparison.objects.filter(judge=OuterRef("pk"), status=ComparisonStatus.PENDING)
    judges = SessionJudge.objects.filter(Exists(waiting), stop_reason="", model__provider__in=mine)
    running = JudgeComparison.objects.filter(session=OuterRef("pk"), status=ComparisonStatus.RUNNING)
    starving = JudgeSession.objects.live().exclude(pk=session_id).filter(~Exists(running), session_judges__in=judges)
    for pk in starving.order_by("started_at").values_list("pk", flat=True).distinct()[:MOST_WOKEN]:
        wake_lane(pk, 0)
