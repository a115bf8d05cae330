"""Size and duration of a plan that is written already."""

import math

from judge.models import JudgeSession
from judge.services.configuration import MAX_WORKERS
from judge.services.estimates import Estimate, median_latency
from pillars.models import PillarThread


def estimate_of(session: JudgeSession) -> Estimate:
    """The estimate of a session as its plan stands, whatever was added to its pillars later (four queries)."""
    models = [judge.model for judge in session.session_judges.select_related("model")]
    seconds = session.total_comparisons * sum(map(median_latency, models)) / max(1, len(models))
    minutes = {str(workers): math.ceil(seconds / workers / 60) for workers in range(1, MAX_WORKERS + 1)}
    members = PillarThread.objects.filter(pillar__in=session.pillars.all())
    return Estimate(
        comparison_mode=session.comparison_mode,
        total_threads=members.values("thread").distinct().count(),
        base_comparisons=session.total_comparisons // session.orders_expected,
        with_position_swap=session.total_comparisons,
        estimated_duration_minutes=minutes[str(session.worker_count)],
        with_workers=minutes,
    )
