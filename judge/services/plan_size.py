"""Size and duration of a plan that is written already."""

from judge.models import JudgeSession
from judge.services.estimates import Estimate, median_latency, minutes_with_workers
from pillars.models import PillarThread


def estimate_of(session: JudgeSession) -> Estimate:
    """The estimate of a session: its plan as written, beside the threads its pillars hold today (four queries)."""
    models = [judge.model for judge in session.session_judges.select_related("model")]
    seconds = session.total_comparisons * sum(map(median_latency, models)) / max(1, len(models))
    minutes = minutes_with_workers(seconds)
    members = PillarThread.objects.filter(pillar__in=session.pillars.all())
    return Estimate(
        comparison_mode=session.comparison_mode,
        total_threads=members.values("thread").distinct().count(),
        base_comparisons=session.total_comparisons // session.orders_expected,
        with_position_swap=session.total_comparisons,
        estimated_duration_minutes=minutes[str(session.worker_count)],
        with_workers=minutes,
    )
