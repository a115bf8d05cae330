"""Sessions, estimates, modes."""

from typing import Any

from rest_framework import serializers

from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeSession
from judge.models.session import MAX_SEED, MODE_LABELS, STATUS_LABELS, STRATEGY_LABELS
from judge.selectors.sessions import allowed_actions
from judge.services.configuration import SessionConfig
from pillars.models import Language

MAX_COUNT = 100_000
# Far more than can be chosen; how many may be is the services' question, this only keeps queries small.
MAX_CHOICES = 1_000
MAX_ID = 2**63 - 1


class PlanInputSerializer(serializers.Serializer[Any]):
    """What decides a plan. Defaults are those of the pages."""

    pillar_ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=32_767),
        max_length=MAX_CHOICES,
        help_text="Numbers of the pillars, at least two.",
    )
    judge_model_ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        max_length=MAX_CHOICES,
        required=False,
        help_text="1-3 judge models; may be left out where only one is offered.",
    )
    comparison_mode = serializers.ChoiceField(list(MODE_LABELS.items()), default=ComparisonMode.PILLAR_SAMPLE)
    sampling_strategy = serializers.ChoiceField(list(STRATEGY_LABELS.items()), default=SamplingStrategy.ROTATING)
    samples_per_pillar = serializers.IntegerField(min_value=1, max_value=MAX_COUNT, default=10)
    repetitions_per_pair = serializers.IntegerField(min_value=1, max_value=MAX_COUNT, default=1)
    max_threads_per_pillar = serializers.IntegerField(
        min_value=1, max_value=MAX_COUNT, allow_null=True, default=None, help_text="null: all threads."
    )
    position_swap = serializers.BooleanField(default=True)
    calculate_elo = serializers.BooleanField(default=True)
    worker_count = serializers.IntegerField(min_value=1, max_value=5, default=3)
    seed = serializers.IntegerField(
        min_value=0, max_value=MAX_SEED, allow_null=True, default=None, help_text="null: drawn."
    )
    language = serializers.ChoiceField(Language.choices, default=Language.GERMAN.value)
    rubric_id = serializers.IntegerField(
        min_value=1, max_value=MAX_ID, allow_null=True, default=None, help_text="null: the default one."
    )


class SessionInputSerializer(PlanInputSerializer):
    """A new session."""

    session_name = serializers.CharField(max_length=200)
    description = serializers.CharField(required=False, default="", allow_blank=True, max_length=10_000)


def config_from(data: dict[str, Any], judge_model_ids: tuple[int, ...]) -> SessionConfig:
    """The validated fields as the services take them."""
    # An estimate needs no name, a session does.
    plain = {key: value for key, value in data.items() if key not in ("session_name", "pillar_ids", "judge_model_ids")}
    return SessionConfig(
        name=data.get("session_name", "-"),
        pillar_ids=tuple(data["pillar_ids"]),
        judge_model_ids=judge_model_ids,
        **plain,
    )


class SessionJudgeSerializer(serializers.Serializer[Any]):
    """A judge of a session, with the parameters frozen at its creation."""

    judge_model_id = serializers.IntegerField(source="model_id")
    model_name = serializers.CharField(source="model.model_name")
    provider = serializers.CharField(source="model.provider.name")
    is_simulated = serializers.BooleanField(source="model.provider.is_simulated", help_text="No LLM, made for trials.")
    parameters = serializers.JSONField()


class SessionSerializer(serializers.ModelSerializer[JudgeSession]):
    """A session with its counters."""

    session_name = serializers.CharField(source="name")
    owner = serializers.CharField(source="owner.username")
    status = serializers.ChoiceField(list(STATUS_LABELS.items()))
    pillar_ids = serializers.SlugRelatedField[Any](
        source="pillars", many=True, read_only=True, slug_field="number", help_text="Numbers of the pillars."
    )
    judges = SessionJudgeSerializer(source="session_judges", many=True)
    prompt_version = serializers.CharField()
    percent = serializers.IntegerField(help_text="0-100, rounded down: 100 means all.")
    allowed_actions = serializers.SerializerMethodField(help_text="What the status allows.")

    class Meta:
        model = JudgeSession
        fields = (
            "id",
            "session_name",
            "description",
            "owner",
            "status",
            "status_reason",
            "allowed_actions",
            "pillar_ids",
            "judges",
            "comparison_mode",
            "sampling_strategy",
            "samples_per_pillar",
            "repetitions_per_pair",
            "max_threads_per_pillar",
            "position_swap",
            "calculate_elo",
            "worker_count",
            "seed",
            "language",
            "rubric_id",
            "prompt_version",
            "total_comparisons",
            "completed_comparisons",
            "failed_comparisons",
            "percent",
            "created_at",
            "started_at",
            "completed_at",
        )
        read_only_fields = fields

    def get_allowed_actions(self, session: JudgeSession) -> list[str]:
        """As the selector says."""
        return allowed_actions(session)


class EstimateSerializer(serializers.Serializer[Any]):
    """How large a plan is and how long it may take."""

    comparison_mode = serializers.CharField()
    total_threads = serializers.IntegerField(help_text="Threads in the chosen pillars.")
    base_comparisons = serializers.IntegerField(help_text="Without position swap, over all judges.")
    with_position_swap = serializers.IntegerField(help_text="With the swap, if it is configured.")
    total_comparisons = serializers.IntegerField(source="with_position_swap")
    estimated_duration_minutes = serializers.IntegerField(help_text="With the chosen number of workers.")
    with_workers = serializers.DictField(child=serializers.IntegerField(), help_text="Minutes with 1 to 5 workers.")


class ModeSerializer(serializers.Serializer[Any]):
    """One comparison mode."""

    id = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    available = serializers.BooleanField()


class StrategySerializer(serializers.Serializer[Any]):
    """One sampling strategy of pillar_sample."""

    id = serializers.CharField()
    name = serializers.CharField()
    available = serializers.BooleanField()


class ModesSerializer(serializers.Serializer[Any]):
    """What can be chosen for a new session."""

    modes = ModeSerializer(many=True)
    strategies = StrategySerializer(many=True)
