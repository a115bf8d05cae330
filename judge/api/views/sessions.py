"""Sessions: list, plan, read, delete, run."""

from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.common import ErrorSerializer
from judge.api.serializers.sessions import (
    EstimateSerializer,
    PlanInputSerializer,
    SessionInputSerializer,
    SessionSerializer,
    config_from,
)
from judge.models import JudgeSession
from judge.selectors import access
from judge.selectors.sessions import offered_models, session_list
from judge.services import control, sessions
from judge.services.estimates import estimate
from judge.services.plan_size import estimate_of

ACTIONS = {
    "start": control.start,
    "pause": control.pause,
    "resume": control.resume,
    "abort": control.abort,
    "retry-failed": control.retry_failed,
}
SUMMARIES = {
    "start": "Start judging",
    "pause": "Pause; running comparisons finish",
    "resume": "Go on judging",
    "abort": "End for good; what was judged stays",
    "retry-failed": "Judge the failed comparisons again",
}
REFUSALS = {400: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer, 409: ErrorSerializer}


class SessionsView(generics.ListAPIView[JudgeSession]):
    """All sessions that the person may read, and new ones."""

    serializer_class = SessionSerializer
    queryset = JudgeSession.objects.none()

    def get_queryset(self) -> QuerySet[JudgeSession]:
        """The sessions shown to this person."""
        access.require(self.request.user, access.VIEW)
        return session_list(self.request.user)

    @extend_schema(tags=["sessions"], summary="Sessions, newest first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One page of sessions."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        tags=["sessions"],
        summary="Plan a session",
        request=SessionInputSerializer,
        responses={201: SessionSerializer, 400: ErrorSerializer, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Write the whole plan of a new session. It does not start by itself."""
        access.require(request.user, access.ADD)
        form = SessionInputSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        config = config_from(form.validated_data, _judges(request, form.validated_data))
        created = sessions.create_session(person(request), config)
        session = session_list(request.user).get(pk=created.pk)
        place = reverse("judge-api:session", args=[session.pk])
        return Response(SessionSerializer(session).data, status.HTTP_201_CREATED, headers={"Location": place})


class SessionView(APIView):
    """One session."""

    @extend_schema(tags=["sessions"], summary="A session", responses={200: SessionSerializer, 404: ErrorSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Configuration and counters."""
        return Response(SessionSerializer(access.visible_session(request.user, pk)).data)

    @extend_schema(tags=["sessions"], summary="Delete a session", responses={204: None, **REFUSALS})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the session with all its verdicts; refused while it runs."""
        sessions.delete_session(access.editable_session(request.user, pk, access.DELETE).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


def action_view(name: str) -> type[APIView]:
    """The view of one move of a session's state; ``name`` is one of ACTIONS."""

    class ActionView(APIView):
        @extend_schema(
            tags=["control"],
            operation_id=f"judge_session_{name.replace('-', '_')}",
            summary=SUMMARIES[name],
            request=None,
            responses={200: SessionSerializer, 403: ErrorSerializer, 404: ErrorSerializer, 409: ErrorSerializer},
        )
        def post(self, request: Request, pk: int) -> Response:
            """Make the move and answer with the session as it is then; 409 where its status does not allow it."""
            session = access.editable_session(request.user, pk)
            ACTIONS[name](session.pk)
            return Response(SessionSerializer(access.visible_session(request.user, pk)).data)

    return ActionView


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
        """Count by planning; nothing is stored."""
        access.require(request.user, access.ADD)
        form = PlanInputSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        config = config_from(form.validated_data, _judges(request, form.validated_data))
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
        """Counted in the plan as it is written."""
        return Response(EstimateSerializer(estimate_of(access.visible_session(request.user, pk))).data)


def person(request: Request) -> User:
    """Who asks; the permission classes let nobody in who is not logged in."""
    return cast(User, request.user)


def _judges(request: Request, data: dict[str, Any]) -> tuple[int, ...]:
    """The chosen judge models; where none was named and only one is offered, that one."""
    if "judge_model_ids" in data:
        return tuple(data["judge_model_ids"])
    offered = tuple(offered_models(request.user).values_list("pk", flat=True)[:2])
    return offered if len(offered) == 1 else ()
