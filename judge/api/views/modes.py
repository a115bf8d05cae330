"""What can be chosen for a new session."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.sessions import ModesSerializer
from judge.models.session import MODE_LABELS, STRATEGY_LABELS
from judge.wording import MODE_LINES, STRATEGY_LINES


class ComparisonModesView(APIView):
    """Comparison modes and sampling strategies."""

    @extend_schema(tags=["sessions"], summary="Modes and strategies", responses=ModesSerializer)
    def get(self, request: Request) -> Response:
        """All modes and strategies in the reader's language."""
        modes = [
            {"id": mode, "name": label, "description": MODE_LINES[mode], "available": True}
            for mode, label in MODE_LABELS.items()
        ]
        strategies = [
            {"id": strategy, "name": label, "description": STRATEGY_LINES[strategy], "available": True}
            for strategy, label in STRATEGY_LABELS.items()
        ]
        return Response(ModesSerializer({"modes": modes, "strategies": strategies}).data)
