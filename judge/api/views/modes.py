"""What can be chosen for a new session."""

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.sessions import ModesSerializer
from judge.domain.planning import PlanConfig, PlanError
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models.session import MODE_LABELS, STRATEGY_LABELS

DESCRIPTIONS = {
    ComparisonMode.PILLAR_SAMPLE: _("Random samples of each two pillars, compared one to one. A quick overview."),
    ComparisonMode.ROUND_ROBIN: _("Every thread of one pillar against every thread of the other."),
    ComparisonMode.FREE_FOR_ALL: _("Every thread against every other thread, within pillars too."),
    ComparisonMode.ADAPTIVE: _("The next comparisons are chosen where they tell most."),
}


class ComparisonModesView(APIView):
    """Comparison modes and sampling strategies."""

    @extend_schema(tags=["sessions"], summary="Modes and strategies", responses=ModesSerializer)
    def get(self, request: Request) -> Response:
        """All modes and strategies in the reader's language, with those that can be chosen now marked."""
        modes = [
            {"id": mode, "name": label, "description": DESCRIPTIONS[mode], "available": _can_plan(mode)}
            for mode, label in MODE_LABELS.items()
        ]
        strategies = [
            {"id": strategy, "name": label, "available": _can_plan(ComparisonMode.PILLAR_SAMPLE, strategy)}
            for strategy, label in STRATEGY_LABELS.items()
        ]
        return Response(ModesSerializer({"modes": modes, "strategies": strategies}).data)


def _can_plan(mode: ComparisonMode, strategy: SamplingStrategy = SamplingStrategy.ROTATING) -> bool:
    """Asked of the planner itself, so that the answer cannot lag behind it."""
    config = PlanConfig(
        comparison_mode=mode,
        sampling_strategy=strategy,
        samples_per_pillar=1,
        repetitions_per_pair=1,
        max_threads_per_pillar=None,
        position_swap=True,
        judge_count=1,
        seed=0,
    )
    try:
        config.validate()
    except PlanError:
        return False
    return True
