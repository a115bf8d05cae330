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
    NamingSerializer,
    SessionInputSerializer,
    SessionSerializer,
    config_from,
)
from judge.models import JudgeSession
from judge.selectors import access
from judge.selectors.sessions import offered_models, session_list
from judge.services import control, deletion, naming, sessions

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
        """Write a new session and its plan; the rest of a large plan is written by a worker. It does not start by
        itself, and may be started while its plan is written."""
        access.require(request.user, access.ADD)
        return create_from(request, request.data)


class SessionView(APIView):
    """One session."""

    @extend_schema(tags=["sessions"], summary="A session", responses={200: SessionSerializer, 404: ErrorSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """Configuration and counters."""
        return Response(SessionSerializer(access.visible_session(request.user, pk)).data)

    @extend_schema(
        tags=["sessions"],
        summary="Rename a session",
        request=NamingSerializer,
        responses={200: SessionSerializer, **REFUSALS},
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change name and description; everything else was frozen when the session was created."""
        session = access.editable_session(request.user, pk)
        form = NamingSerializer(data=request.data, partial=True)
        form.is_valid(raise_exception=True)
        naming.rename(session.pk, form.validated_data.get("session_name"), form.validated_data.get("description"))
        return Response(SessionSerializer(access.visible_session(request.user, pk)).data)

    @extend_schema(tags=["sessions"], summary="Delete a session", responses={204: None, **REFUSALS})
    def delete(self, request: Request, pk: int) -> Response:
        """Delete the session with all its verdicts; refused while it runs."""
        deletion.delete_session(access.editable_session(request.user, pk, access.DELETE).pk)
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


def person(request: Request) -> User:
    """Who asks; the permission classes let nobody in who is not logged in."""
    return cast(User, request.user)


def create_from(request: Request, data: Any) -> Response:
    """Check the fields of a new session, create it, and answer with it and its address."""
    form = SessionInputSerializer(data=data)
    form.is_valid(raise_exception=True)
    config = config_from(form.validated_data, judges(request, form.validated_data))
    created = sessions.create_session(person(request), config)
    session = session_list(request.user).get(pk=created.pk)
    place = reverse("judge-api:session", args=[session.pk])
    return Response(SessionSerializer(session).data, status.HTTP_201_CREATED, headers={"Location": place})


def judges(request: Request, data: dict[str, Any]) -> tuple[int, ...]:
    """The chosen judge models; where none was named and only one is offered, that one."""
    if "judge_model_ids" in data:
        return tuple(data["judge_model_ids"])
    offered = tuple(offered_models(request.user).values_list("pk", flat=True)[:2])
    return offered if len(offered) == 1 else ()
