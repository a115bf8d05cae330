"""What can be chosen for a new session."""

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.sessions import ModesSerializer
from judge.domain.states import ComparisonMode
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
        """All modes and strategies in the reader's language."""
        modes = [
            {"id": mode, "name": label, "description": DESCRIPTIONS[mode], "available": True}
            for mode, label in MODE_LABELS.items()
        ]
        strategies = [{"id": strategy, "name": label, "available": True} for strategy, label in STRATEGY_LABELS.items()]
        return Response(ModesSerializer({"modes": modes, "strategies": strategies}).data)
