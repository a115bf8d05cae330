"""Pillars and threads over HTTP, under ``/api/judge/``."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from pillars.api import serializers as shapes
from pillars.api.errors import ImportRefusedError
from pillars.api.parsers import RawJSONParser
from pillars.api.permissions import MayAssignThreads, MayImportThreads, MayReadThreads
from pillars.models import EmailThread, Pillar
from pillars.selectors import pillars_with_counts, threads_of_pillar, threads_with_messages
from pillars.services.assign import UnknownThreads, assign_threads
from pillars.services.imports import ImportRefused, import_threads

_TAGS = ["pillars"]


@extend_schema(tags=_TAGS, summary="All pillars")
class PillarList(generics.ListAPIView[Pillar]):
    """All pillars by number."""

    serializer_class = shapes.PillarSerializer
    queryset = pillars_with_counts()


@extend_schema(tags=_TAGS, summary="One pillar")
class PillarDetail(generics.RetrieveAPIView[Pillar]):
    """A pillar by its number."""

    serializer_class = shapes.PillarSerializer
    queryset = pillars_with_counts()
    lookup_field = "number"


@extend_schema(tags=_TAGS, summary="Threads of a pillar")
class PillarThreads(generics.ListAPIView[EmailThread]):
    """The threads of a pillar without their letters."""

    permission_classes = (IsAuthenticated, MayReadThreads)
    serializer_class = shapes.ThreadSerializer
    queryset = EmailThread.objects.none()  # for the schema

    def get_queryset(self) -> QuerySet[EmailThread]:
        return threads_of_pillar(_pillar(self.kwargs["number"]))


@extend_schema(tags=_TAGS, summary="One thread with its letters")
class ThreadDetail(generics.RetrieveAPIView[EmailThread]):
    """A thread to read."""

    permission_classes = (IsAuthenticated, MayReadThreads)
    serializer_class = shapes.ThreadDetailSerializer
    queryset = threads_with_messages()


class PillarImport(APIView):
    """Threads in, all or nothing."""

    permission_classes = (IsAuthenticated, MayImportThreads)
    parser_classes = (MultiPartParser, RawJSONParser)

    @extend_schema(
        tags=_TAGS,
        summary="Import a file of threads",
        description="The body is a JSON list of threads (options in the query), or a multipart form with the file.",
        parameters=[
            OpenApiParameter("language", str, enum=["de", "en"]),
            OpenApiParameter("only_label", str),
            OpenApiParameter("source", str),
        ],
        request={
            "multipart/form-data": shapes.ImportUploadSerializer,
            "application/json": shapes.ThreadInputSerializer(many=True),
        },
        responses={201: shapes.ImportResultSerializer, 422: shapes.ImportRefusedSerializer},
    )
    def post(self, request: Request, number: int) -> Response:
        pillar = _pillar(number)
        data, file_name, options = _upload(request)
        try:
            done = import_threads(
                data,
                file_name,
                pillar,
                user=request.user,
                language=options.get("language"),
                source=options["source"],
                only_label=options.get("only_label"),
            )
        except ImportRefused as refused:
            raise ImportRefusedError(refused) from None
        counts = {"added": done.added, "assigned": done.assigned, "known": done.known}
        return Response({"batch_id": done.batch.pk, **counts}, status=201)


class PillarAssign(APIView):
    """Threads that exist into one more pillar."""

    permission_classes = (IsAuthenticated, MayAssignThreads)
    parser_classes = (JSONParser,)

    @extend_schema(
        tags=_TAGS,
        summary="Put threads into a pillar",
        request=shapes.AssignSerializer,
        responses={200: shapes.AssignResultSerializer},
    )
    def post(self, request: Request, number: int) -> Response:
        pillar = _pillar(number)
        body = shapes.AssignSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        try:
            return Response({"assigned": assign_threads(pillar, body.validated_data["thread_ids"])})
        except UnknownThreads:
            raise Http404 from None


def _pillar(number: int) -> Pillar:
    return get_object_or_404(Pillar, number=number)


def _upload(request: Request) -> tuple[bytes, str, dict[str, Any]]:
    """Bytes, file name and options of an import, from a form or from a plain JSON body."""
    if isinstance(request.data, bytes):
        query = shapes.ImportOptionsSerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        return request.data, "-", query.validated_data
    form = shapes.ImportUploadSerializer(data=request.data)
    form.is_valid(raise_exception=True)
    file = form.validated_data["file"]
    return file.read(), file.name, form.validated_data
