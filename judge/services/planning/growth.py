"""An adaptive session's plan grows while it is judged, inside the same queue.

A lane that finds nothing to judge plans the next batch. It is chosen from the outcomes of all batches but the newest,
so that no lane waits for the last comparisons of another, and so that seed and verdicts decide it, whichever lane
finished first.
"""

import logging
from collections.abc import Sequence
from functools import partial

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from judge.domain.planning import PlannedPair
from judge.domain.states import ComparisonMode, ComparisonStatus, PlanEnd
from judge.models import JudgeComparison, JudgeSession, PlanBatch
from judge.services.planning.batches import History, choose, history_of
from judge.services.planning.rows import PlanFrame, append, read_frame
from judge.services.queue import publish_progress
from judge.services.tally import settle
from judge.services.wakeups import wake_lane

logger = logging.getLogger(__name__)

# Threads among which the first batch is chosen where the session is created: some hundredths of a second.
AT_ONCE = 200
UNFINISHED = (ComparisonStatus.PENDING, ComparisonStatus.RUNNING)


def growing() -> QuerySet[JudgeSession]:
    """Live adaptive sessions whose budget is not spent."""
    adaptive = JudgeSession.objects.live().filter(comparison_mode=ComparisonMode.ADAPTIVE)
    return adaptive.filter(planned_comparisons__lt=F("total_comparisons"))


def is_due(session_id: int) -> bool:
    """Whether a live adaptive session has budget left, nothing that waits, and all batches but the newest judged."""
    if not growing().filter(pk=session_id).exists():
        return False
    rows = JudgeComparison.objects.filter(session=session_id)
    if rows.filter(status=ComparisonStatus.PENDING).exists():
        return False
    newest = PlanBatch.objects.filter(session=session_id).order_by("-number").first()
    before = newest.first_pair if newest else 0
    return not rows.filter(status__in=UNFINISHED, pair__queue_order__lt=before).exists()


def grow(session_id: int) -> bool:
    """Plan the next batch of an adaptive session if it is due, or end its plan. Returns whether a lane should look
    for work again. Safe to run twice at once: of two equal batches one is kept."""
    # Read before asking: a batch that another lane adds meanwhile shows as pairs that this session does not count.
    session = JudgeSession.objects.filter(pk=session_id).first()
    if session is None or not is_due(session_id):
        return False
    frame = read_frame(session)
    history = history_of(session)
    if len(history.pairs) * frame.config.comparisons_per_pair != session.planned_comparisons:
        return True  # somebody else has just planned the batch
    batch = choose(frame, history)
    if isinstance(batch, PlanEnd):
        _end(session, batch)
        return False
    if _append(frame, history, batch):
        publish_progress(session_id)
        for worker_id in range(session.worker_count):
            wake_lane(session_id, worker_id)
    return True


def write_first_batch(frame: PlanFrame) -> None:
    """Write the first batch of a session that is just being created; among many threads a lane chooses it later."""
    if sum(map(len, frame.threads.values())) > AT_ONCE:
        return
    nothing = History([], [], [], number=1)
    batch = choose(frame, nothing)
    if not isinstance(batch, PlanEnd):
        _append(frame, nothing, batch)


def _append(frame: PlanFrame, history: History, batch: Sequence[PlannedPair]) -> bool:
    note = partial(
        PlanBatch.objects.create,
        session_id=frame.session_id,
        number=history.number,
        first_pair=len(history.pairs),
        pair_count=len(batch),
        open_pairs=history.open_pairs,
    )
    return append(frame, batch, note)


def _end(session: JudgeSession, reason: PlanEnd) -> None:
    """Nothing is planned any more: what is planned is all there is."""
    same = growing().filter(pk=session.pk, planned_comparisons=session.planned_comparisons)
    if same.update(total_comparisons=F("planned_comparisons"), plan_end=reason, plan_written_at=Now()):
        logger.info("plan_ended session=%s reason=%s", session.pk, reason)
        publish_progress(session.pk)
    settle(session.pk)
