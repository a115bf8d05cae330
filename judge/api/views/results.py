"""Results of a session, as they are stored."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.common import ErrorSerializer
from judge.api.serializers.results import EloDistributionsSerializer, LeaderboardSerializer, ResultsSerializer
from judge.selectors import access
from judge.selectors.ratings import elo_distribution, leaderboard, results_or_empty

NOT_FOUND = {404: ErrorSerializer}


class ResultsView(APIView):
    """Ranking, matrix, leaderboard and position swap."""

    @extend_schema(tags=["results"], summary="Results", responses={200: ResultsSerializer, **NOT_FOUND})
    def get(self, request: Request, pk: int) -> Response:
        """The newest stored results; before the first ones everything is empty."""
        session = access.visible_session(request.user, pk)
        results = results_or_empty(session)
        results_of = {"session_id": session.pk, "status": session.status, "is_partial": results.is_partial}
        return Response(ResultsSerializer(vars(results) | results_of).data)


class LeaderboardView(APIView):
    """Threads by rating."""

    @extend_schema(tags=["results"], summary="Thread leaderboard", responses={200: LeaderboardSerializer, **NOT_FOUND})
    def get(self, request: Request, pk: int) -> Response:
        """All rated threads, best first."""
        return Response(LeaderboardSerializer(leaderboard(access.visible_session(request.user, pk))).data)


class EloDistributionView(APIView):
    """ELO by pillar."""

    @extend_schema(
        tags=["results"], summary="ELO distribution", responses={200: EloDistributionsSerializer, **NOT_FOUND}
    )
    def get(self, request: Request, pk: int) -> Response:
        """The ratings of each pillar's threads with mean, median and spread."""
        pillars = elo_distribution(access.visible_session(request.user, pk))
        return Response(EloDistributionsSerializer({"pillars": pillars}).data)
