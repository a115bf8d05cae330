"""What a plan takes before it is written, and plans made like another."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.common import ErrorSerializer
from judge.api.serializers.estimates import EstimateSerializer
from judge.api.serializers.sessions import (
    DuplicateSerializer,
    PlanInputSerializer,
    SessionSerializer,
    config_from,
)
from judge.api.views.sessions import create_from, judges, person
from judge.selectors import access
from judge.services.planning.duplication import config_of
from judge.services.planning.estimates import estimate
from judge.services.planning.size import estimate_of


class EstimateView(APIView):
    """The size of a plan that does not exist yet."""

    @extend_schema(
        tags=["sessions"],
        summary="Estimate a plan",
        operation_id="judge_estimate",
        request=PlanInputSerializer,
        responses={200: EstimateSerializer, 400: ErrorSerializer, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Counted by the planner itself; nothing is stored."""
        access.require(request.user, access.ADD)
        form = PlanInputSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        config = config_from(form.validated_data, judges(request, form.validated_data))
        return Response(EstimateSerializer(estimate(person(request), config)).data)


class SessionEstimateView(APIView):
    """The size of a session's plan."""

    @extend_schema(
        tags=["sessions"],
        summary="Estimate of a session",
        operation_id="judge_session_estimate",
        responses={200: EstimateSerializer, 404: ErrorSerializer},
    )
    def get(self, request: Request, pk: int) -> Response:
        """Counted from the threads and the configuration frozen at its creation."""
        return Response(EstimateSerializer(estimate_of(access.visible_session(request.user, pk))).data)


class DuplicateView(APIView):
    """Another session with the same configuration."""

    @extend_schema(
        tags=["sessions"],
        summary="Duplicate a session",
        operation_id="judge_session_duplicate",
        request=DuplicateSerializer,
        responses={201: SessionSerializer, 400: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Plan a new session with this one's configuration and the threads that its pillars hold now.

        Fields that are given replace those of the session, the seed too: null draws a new one.
        """
        session = access.visible_session(request.user, pk)
        access.require(request.user, access.ADD)
        # Partial: what a form leaves out stays as it was, a box that is not ticked too.
        form = DuplicateSerializer(data=request.data, partial=True)
        form.is_valid(raise_exception=True)
        return create_from(request, _fields(config_of(session)) | form.validated_data)


def _fields(config: Any) -> dict[str, Any]:
    """A configuration in the API's words."""
    values = asdict(config)
    return {"session_name": values.pop("name"), **values}
