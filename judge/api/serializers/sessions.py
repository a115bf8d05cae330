"""Sessions, estimates, modes."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from judge.domain.plan_config import MAX_BUDGET, MAX_REPETITIONS, MAX_SAMPLES, MAX_THREADS
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeSession
from judge.models.session import MAX_SEED, MODE_LABELS, STATUS_LABELS, STRATEGY_LABELS
from judge.selectors.sessions import allowed_actions
from judge.services.planning.configuration import MAX_NAME, SessionConfig
from pillars.models import Language

# Far more than can be chosen; how many may be is the services' question, this only keeps queries small.
MAX_CHOICES = 1_000
MAX_ID = 2**63 - 1


class PlanInputSerializer(serializers.Serializer[Any]):
    """What decides a plan. Defaults are those of the pages."""

    pillar_ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=32_767),
        max_length=MAX_CHOICES,
        help_text="Numbers of the pillars: at least two, or one for free_for_all and adaptive.",
    )
    judge_model_ids = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MAX_ID),
        max_length=MAX_CHOICES,
        required=False,
        help_text="1-3 judge models; may be left out where only one is offered.",
    )
    comparison_mode = serializers.ChoiceField(list(MODE_LABELS.items()), default=ComparisonMode.PILLAR_SAMPLE)
    sampling_strategy = serializers.ChoiceField(list(STRATEGY_LABELS.items()), default=SamplingStrategy.ROTATING)
    samples_per_pillar = serializers.IntegerField(min_value=1, max_value=MAX_SAMPLES, default=10)
    repetitions_per_pair = serializers.IntegerField(
        min_value=1,
        max_value=MAX_REPETITIONS,
        default=1,
        help_text="adaptive: how often two threads may meet at most; 2 ranks better than 1.",
    )
    max_threads_per_pillar = serializers.IntegerField(
        min_value=1, max_value=MAX_THREADS, allow_null=True, default=None, help_text="null: all threads."
    )
    comparison_budget = serializers.IntegerField(
        min_value=1,
        max_value=MAX_BUDGET,
        allow_null=True,
        default=None,
        help_text="adaptive only, and needed there: comparisons in all, over all judges and both orders.",
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

    session_name = serializers.CharField(max_length=MAX_NAME)
    description = serializers.CharField(required=False, default="", allow_blank=True, max_length=10_000)
    confirm_large_plan = serializers.BooleanField(
        default=False, help_text="A plan with very many comparisons is refused unless it is confirmed."
    )


class DuplicateSerializer(SessionInputSerializer):
    """What is to be different in the copy of a session; nothing has to be."""

    def get_fields(self) -> dict[str, Any]:
        """The fields of a new session without their defaults: what is not given stays as it was."""
        fields = super().get_fields()
        for field in fields.values():
            field.required, field.default = False, serializers.empty
        return fields


class NamingSerializer(serializers.Serializer[Any]):
    """What can be changed in a session later."""

    session_name = serializers.CharField(max_length=MAX_NAME, required=False)
    description = serializers.CharField(required=False, allow_blank=True, max_length=10_000)

    def to_internal_value(self, data: Any) -> Any:
        """Refuse, by name, all that was frozen when the session was created."""
        frozen = sorted(set(data) - set(self.fields)) if isinstance(data, Mapping) else []
        if frozen:
            raise serializers.ValidationError({name: [_("This cannot be changed later.")] for name in frozen})
        return super().to_internal_value(data)


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
            "comparison_budget",
            "position_swap",
            "calculate_elo",
            "worker_count",
            "seed",
            "language",
            "rubric_id",
            "prompt_version",
            "total_comparisons",
            "planned_comparisons",
            "plan_end",
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
    description = serializers.CharField()
    available = serializers.BooleanField()


class ModesSerializer(serializers.Serializer[Any]):
    """What can be chosen for a new session."""

    modes = ModeSerializer(many=True)
    strategies = StrategySerializer(many=True)
