"""What a model's newest answers took, which is the best guess at what its next ones will take."""

from dataclasses import dataclass
from statistics import median
from typing import Final

from judge.models import JudgeEvaluation, JudgeModel

# Seconds per comparison before a model has any history.
SECONDS_WITHOUT_HISTORY: Final = 10.0
# The newest answers of a model that its medians are taken from.
HISTORY: Final = 200


@dataclass(frozen=True)
class ModelHistory:
    """Medians over a model's newest answers: seconds for one, and tokens of one (None: it never said)."""

    seconds: float
    completion_tokens: float | None


def model_history(model: JudgeModel) -> ModelHistory:
    """The medians of a model's newest 200 answers; 10 seconds and no tokens before there are any (one query)."""
    newest = JudgeEvaluation.objects.filter(comparison__judge__model=model).order_by("-pk")
    rows = list(newest.values_list("latency_ms", "completion_tokens")[:HISTORY])
    tokens = [count for _, count in rows if count is not None]
    return ModelHistory(
        seconds=median(latency for latency, _ in rows) / 1000 if rows else SECONDS_WITHOUT_HISTORY,
        completion_tokens=median(tokens) if tokens else None,
    )
