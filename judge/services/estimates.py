"""What a configuration will take, counted by the planner itself."""

import math
from dataclasses import dataclass

from django.contrib.auth.models import User

from judge.models import JudgeEvaluation, JudgeModel
from judge.services.configuration import MAX_WORKERS, CheckedConfig, SessionConfig, check_config

# Seconds per comparison before a model has any history.
SECONDS_WITHOUT_HISTORY = 10.0
# The newest answers of a model that its median latency is taken from.
HISTORY = 200


@dataclass(frozen=True)
class Estimate:
    """Size and duration of a plan; ``with_workers`` gives the minutes for 1 to 5 workers."""

    comparison_mode: str
    total_threads: int
    base_comparisons: int
    with_position_swap: int
    estimated_duration_minutes: int
    with_workers: dict[str, int]


def estimate(user: User, config: SessionConfig) -> Estimate:
    """Estimate a configuration. Raises ConfigRefused as create_session would."""
    checked = check_config(user, config)
    seconds = checked.counts.comparisons * _mean_latency(checked)
    minutes = minutes_with_workers(seconds)
    return Estimate(
        comparison_mode=config.comparison_mode,
        total_threads=len({thread for threads in checked.threads.values() for thread in threads}),
        base_comparisons=checked.counts.base_comparisons,
        with_position_swap=checked.counts.comparisons,
        estimated_duration_minutes=minutes[str(config.worker_count)],
        with_workers=minutes,
    )


def minutes_with_workers(seconds: float) -> dict[str, int]:
    """Whole minutes, rounded up, that so many seconds of judging take with 1 to 5 workers."""
    return {str(workers): math.ceil(seconds / workers / 60) for workers in range(1, MAX_WORKERS + 1)}


def _mean_latency(checked: CheckedConfig) -> float:
    """Seconds per comparison: the mean over the judges of each one's median."""
    medians = [median_latency(model) for model in checked.models]
    return sum(medians) / len(medians)


def median_latency(model: JudgeModel) -> float:
    """Median latency of a model's newest answers in seconds; 10 without history."""
    newest = JudgeEvaluation.objects.filter(comparison__judge__model=model).order_by("-pk")
    values = sorted(newest.values_list("latency_ms", flat=True)[:HISTORY])
    if not values:
        return SECONDS_WITHOUT_HISTORY
    middle = len(values) // 2
    return (values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2) / 1000
