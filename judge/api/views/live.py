"""What a session is doing now."""

from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.common import ErrorSerializer
from judge.api.serializers.comparisons import (
    ComparisonDetailSerializer,
    ComparisonFilterSerializer,
    ComparisonSerializer,
    CurrentSerializer,
    QueuedSerializer,
    WorkersSerializer,
)
from judge.api.serializers.health import HealthSerializer
from judge.models import JudgeComparison
from judge.selectors import access
from judge.selectors.comparisons import comparison_detail, comparison_list, waiting_list
from judge.selectors.health import health
from judge.selectors.lanes import lanes, swap_twin
from judge.selectors.workers import workers_status

NOT_FOUND = {404: ErrorSerializer}


class CurrentView(APIView):
    """The lanes with what they judge."""

    @extend_schema(tags=["live"], summary="What the lanes judge now", responses={200: CurrentSerializer, **NOT_FOUND})
    def get(self, request: Request, pk: int) -> Response:
        """Each lane with its comparison, the answer so far, and what it finished last."""
        session = access.visible_session(request.user, pk)
        data = {"session_id": session.pk, "status": session.status, "workers": lanes(session)}
        return Response(CurrentSerializer(data).data)


class QueueView(generics.ListAPIView[JudgeComparison]):
    """What waits."""

    serializer_class = QueuedSerializer
    queryset = JudgeComparison.objects.none()

    def get_queryset(self) -> QuerySet[JudgeComparison]:
        """The waiting comparisons of the session."""
        return waiting_list(access.visible_session(self.request.user, self.kwargs["pk"]))

    @extend_schema(tags=["live"], summary="Comparisons that wait, next first")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One page of the queue."""
        return super().get(request, *args, **kwargs)


class ComparisonsView(generics.ListAPIView[JudgeComparison]):
    """All comparisons of a session."""

    serializer_class = ComparisonSerializer
    queryset = JudgeComparison.objects.none()

    def get_queryset(self) -> QuerySet[JudgeComparison]:
        """Filtered as asked."""
        session = access.visible_session(self.request.user, self.kwargs["pk"])
        wanted = ComparisonFilterSerializer(data=self.request.query_params)
        wanted.is_valid(raise_exception=True)
        return comparison_list(session, **wanted.validated_data)

    @extend_schema(tags=["comparisons"], summary="Comparisons in queue order", parameters=[ComparisonFilterSerializer])
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One page of comparisons."""
        return super().get(request, *args, **kwargs)


class ComparisonView(APIView):
    """One comparison."""

    @extend_schema(
        tags=["comparisons"],
        summary="A comparison with verdict, scores and calls",
        responses={200: ComparisonDetailSerializer, **NOT_FOUND},
    )
    def get(self, request: Request, pk: int, comparison_pk: int) -> Response:
        """Everything that is known of it but the judged texts, which have an address of their own."""
        comparison = comparison_detail(access.visible_session(request.user, pk), comparison_pk)
        comparison.swap_twin = swap_twin(comparison)  # type: ignore[attr-defined]
        return Response(ComparisonDetailSerializer(comparison).data)


class WorkersView(APIView):
    """The lanes in numbers."""

    @extend_schema(tags=["live"], summary="Workers", responses={200: WorkersSerializer, **NOT_FOUND})
    def get(self, request: Request, pk: int) -> Response:
        """As the socket's judge:workers_status says it."""
        return Response(asdict(workers_status(access.visible_session(request.user, pk))))


class HealthView(APIView):
    """Whether a session is doing well."""

    @extend_schema(tags=["live"], summary="Health of a session", responses={200: HealthSerializer, **NOT_FOUND})
    def get(self, request: Request, pk: int) -> Response:
        """Counted from the rows: statuses, leases and errors; and why it stands still, as codes and in words."""
        return Response(HealthSerializer(health(access.visible_session(request.user, pk))).data)
