"""Comparisons, lanes, workers, health. thread_a and pillar_a are what stands in slot A of the presentation."""

from typing import Any

from rest_framework import serializers

from judge.api.serializers.common import FiniteFloat
from judge.domain.states import Winner
from judge.models import JudgeAttempt, JudgeEvaluation
from judge.models.comparison import COMPARISON_LABELS

WINNERS = [(winner.value, winner.value) for winner in Winner]


class ComparisonFilterSerializer(serializers.Serializer[Any]):
    """Filters of the list of comparisons."""

    status = serializers.ChoiceField(list(COMPARISON_LABELS.items()), required=False)
    winner = serializers.ChoiceField(WINNERS, required=False)


class PresentationSerializer(serializers.Serializer[Any]):
    """Which two threads stand in which slots."""

    id = serializers.IntegerField()
    queue_position = serializers.IntegerField()
    repetition = serializers.IntegerField(source="pair.repetition")
    position_order = serializers.IntegerField(help_text="1: as paired, 2: the swap.")
    status = serializers.CharField(help_text="pending, running, completed or failed.")
    worker_id = serializers.IntegerField(allow_null=True)
    thread_a_id = serializers.IntegerField(source="shown_first.pk")
    thread_b_id = serializers.IntegerField(source="shown_second.pk")
    pillar_a = serializers.IntegerField(source="pillar_first.number")
    pillar_b = serializers.IntegerField(source="pillar_second.number")
    attempt_count = serializers.IntegerField()
    started_at = serializers.DateTimeField(allow_null=True)


class QueuedSerializer(PresentationSerializer):
    """A waiting comparison."""

    judge_model_id = serializers.IntegerField(source="judge.model_id")


class FinishedSerializer(PresentationSerializer):
    """The last finished comparison of a lane."""

    completed_at = serializers.DateTimeField(allow_null=True)
    error_code = serializers.CharField(allow_blank=True)
    winner = serializers.ChoiceField(WINNERS, source="evaluation.winner", allow_null=True, help_text="The slot.")
    confidence = FiniteFloat(source="evaluation.confidence", allow_null=True)
    latency_ms = serializers.IntegerField(source="evaluation.latency_ms", allow_null=True)


class ComparisonSerializer(FinishedSerializer):
    """A comparison in the list."""

    judge_model_id = serializers.IntegerField(source="judge.model_id")


class ScoreSerializer(serializers.Serializer[Any]):
    """Scores of both slots on one criterion."""

    criterion = serializers.CharField(source="criterion.key")
    label = serializers.CharField(source="criterion.text")  # type: ignore[assignment]
    score_a = FiniteFloat()
    score_b = FiniteFloat()
    reasoning = serializers.CharField(allow_blank=True)


class EvaluationSerializer(serializers.ModelSerializer[JudgeEvaluation]):
    """The whole verdict."""

    winner = serializers.ChoiceField(WINNERS)
    confidence = FiniteFloat()
    chain_of_thought = serializers.JSONField()
    scores = ScoreSerializer(many=True)

    class Meta:
        model = JudgeEvaluation
        fields = (
            "winner",
            "confidence",
            "reasoning",
            "chain_of_thought",
            "scores",
            "raw_response",
            "model_returned",
            "prompt_hash",
            "finish_reason",
            "prompt_tokens",
            "completion_tokens",
            "cost",
            "latency_ms",
            "first_token_ms",
            "created_at",
        )
        read_only_fields = fields


class AttemptSerializer(serializers.ModelSerializer[JudgeAttempt]):
    """One call of the model, accepted or not."""

    problems = serializers.JSONField()

    class Meta:
        model = JudgeAttempt
        fields = (
            "number",
            "outcome",
            "problems",
            "http_status",
            "finish_reason",
            "model_returned",
            "prompt_hash",
            "raw_response",
            "prompt_tokens",
            "completion_tokens",
            "latency_ms",
            "first_token_ms",
            "started_at",
        )
        read_only_fields = fields


class TwinSerializer(serializers.Serializer[Any]):
    """The other presentation of the same pair to the same judge."""

    id = serializers.IntegerField()
    position_order = serializers.IntegerField()
    status = serializers.CharField()
    winner = serializers.ChoiceField(WINNERS, source="evaluation.winner", allow_null=True, help_text="The slot.")


class ComparisonDetailSerializer(ComparisonSerializer):
    """A comparison with everything that is known of it."""

    error_message = serializers.CharField(allow_blank=True)
    flags = serializers.JSONField(help_text="What is suspicious in the judged texts.")
    evaluation = EvaluationSerializer(allow_null=True)
    attempts = AttemptSerializer(many=True)
    swap_twin = TwinSerializer(allow_null=True)


class LaneSerializer(serializers.Serializer[Any]):
    """One worker of a session."""

    worker_id = serializers.IntegerField()
    is_running = serializers.BooleanField()
    comparison = PresentationSerializer(allow_null=True, help_text="What it judges now.")
    stream_text = serializers.CharField(allow_blank=True, help_text="The answer so far.")
    last = FinishedSerializer(allow_null=True, help_text="What it finished last.")


class CurrentSerializer(serializers.Serializer[Any]):
    """All lanes."""

    session_id = serializers.IntegerField()
    status = serializers.CharField()
    workers = LaneSerializer(many=True)


class WorkerStateSerializer(serializers.Serializer[Any]):
    """One lane in numbers."""

    worker_id = serializers.IntegerField()
    status = serializers.CharField(help_text="running or idle.")
    comparison_id = serializers.IntegerField(allow_null=True)


class WorkersSerializer(serializers.Serializer[Any]):
    """All lanes in numbers, as the socket's judge:workers_status."""

    session_id = serializers.IntegerField()
    workers = WorkerStateSerializer(many=True)
    queue_pending = serializers.IntegerField()
    completed = serializers.IntegerField()
    failed = serializers.IntegerField()
    total = serializers.IntegerField()
