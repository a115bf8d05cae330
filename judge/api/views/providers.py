"""Providers and models of a person's own; the system's to be seen; the test of both."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.serializers.common import ErrorSerializer
from judge.api.serializers.providers import (
    CheckFilterSerializer,
    CheckInputSerializer,
    CheckSerializer,
    ModelInputSerializer,
    ModelSerializer,
    ProviderInputSerializer,
    ProviderSerializer,
)
from judge.api.views.sessions import person
from judge.models import JudgeModel, LLMProvider
from judge.selectors import access, providers
from judge.selectors.check_reports import check_report
from judge.services import provider_settings
from judge.services.newest_check import newest_check
from judge.services.provider_check import poll_check, request_check

TAGS = ["providers"]
NOT_FOUND = {403: ErrorSerializer, 404: ErrorSerializer}
REFUSALS = {400: ErrorSerializer, 409: ErrorSerializer, **NOT_FOUND}


class ProvidersView(generics.ListAPIView[LLMProvider]):
    """Own providers and those of the system."""

    serializer_class = ProviderSerializer
    queryset = LLMProvider.objects.none()

    def get_queryset(self) -> QuerySet[LLMProvider]:
        """What this person may see."""
        return providers.provider_list(self.request.user)

    @extend_schema(tags=TAGS, summary="Your own providers, then those for everybody")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One page of providers with their models."""
        return super().get(request, *args, **kwargs)

    @extend_schema(
        tags=TAGS,
        summary="Set up a provider of your own",
        request=ProviderInputSerializer,
        responses={201: ProviderSerializer, 400: ErrorSerializer, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """It cannot receive threads until staff approve it, unless it runs on the same machine."""
        access.require(request.user, access.ADD)
        values = _valid(ProviderInputSerializer(data=request.data))
        key = values.pop("api_key", "")
        made = provider_settings.create_provider(person(request), values, key)
        place = reverse("judge-api:provider", args=[made.pk])
        return Response(_shown(request, made.pk), status.HTTP_201_CREATED, headers={"Location": place})


class ProviderView(APIView):
    """One provider."""

    @extend_schema(tags=TAGS, summary="A provider", responses={200: ProviderSerializer, **NOT_FOUND})
    def get(self, request: Request, pk: int) -> Response:
        """With its models."""
        return Response(_shown(request, pk))

    @extend_schema(
        tags=TAGS,
        summary="Change a provider of your own",
        request=ProviderInputSerializer(partial=True),
        responses={200: ProviderSerializer, **REFUSALS},
    )
    def patch(self, request: Request, pk: int) -> Response:
        """Change what is named. A new address needs the key again ("" for none) and loses the approval by staff."""
        providers.own_provider(request.user, pk)
        values = _valid(ProviderInputSerializer(data=request.data, partial=True))
        provider_settings.change_provider(pk, values, values.pop("api_key", None))
        return Response(_shown(request, pk))

    @extend_schema(tags=TAGS, summary="Delete a provider of your own", responses={204: None, **REFUSALS})
    def delete(self, request: Request, pk: int) -> Response:
        """With its models, key and tests; 409 while a session has one of its models as a judge."""
        provider_settings.delete_provider(providers.own_provider(request.user, pk).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProviderModelsView(APIView):
    """The models of a provider."""

    @extend_schema(
        tags=TAGS,
        summary="Add a model",
        operation_id="judge_provider_model_create",
        request=ModelInputSerializer,
        responses={201: ModelSerializer, **REFUSALS},
    )
    def post(self, request: Request, pk: int) -> Response:
        """To a provider of your own."""
        providers.own_provider(request.user, pk)
        model = provider_settings.add_model(pk, _valid(ModelInputSerializer(data=request.data)))
        place = reverse("judge-api:provider-model", args=[pk, model.pk])
        shown = ModelSerializer(providers.own_model(request.user, pk, model.pk)).data
        return Response(shown, status.HTTP_201_CREATED, headers={"Location": place})


class ProviderModelView(APIView):
    """One model of a provider."""

    @extend_schema(
        tags=TAGS,
        summary="A model",
        operation_id="judge_provider_model",
        responses={200: ModelSerializer, **NOT_FOUND},
    )
    def get(self, request: Request, pk: int, model_pk: int) -> Response:
        """With what the test found out about it."""
        return Response(ModelSerializer(_visible_model(request, pk, model_pk)).data)

    @extend_schema(
        tags=TAGS,
        summary="Change a model",
        operation_id="judge_provider_model_change",
        request=ModelInputSerializer(partial=True),
        responses={200: ModelSerializer, **REFUSALS},
    )
    def patch(self, request: Request, pk: int, model_pk: int) -> Response:
        """Change what is named; is_active false withdraws it from new sessions."""
        model = providers.own_model(request.user, pk, model_pk)
        provider_settings.change_model(model.pk, _valid(ModelInputSerializer(data=request.data, partial=True)))
        return Response(ModelSerializer(providers.own_model(request.user, pk, model_pk)).data)

    @extend_schema(
        tags=TAGS,
        summary="Delete a model",
        operation_id="judge_provider_model_delete",
        responses={204: None, **REFUSALS},
    )
    def delete(self, request: Request, pk: int, model_pk: int) -> Response:
        """409 while it is a session's judge."""
        provider_settings.delete_model(providers.own_model(request.user, pk, model_pk).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ProviderTestView(APIView):
    """Testing a provider: your own, or as staff one of the system's."""

    @extend_schema(
        tags=TAGS,
        summary="The newest test",
        operation_id="judge_provider_test",
        parameters=[CheckFilterSerializer],
        responses={200: CheckSerializer, **NOT_FOUND},
    )
    def get(self, request: Request, pk: int) -> Response:
        """Of the provider, or of one of its models. Its sentences are in the language of the request."""
        provider = providers.testable_provider(request.user, pk)
        wanted = _valid(CheckFilterSerializer(data=request.query_params))
        return Response(CheckSerializer(check_report(newest_check(provider.pk, wanted.get("model_name")))).data)

    @extend_schema(
        tags=TAGS,
        summary="Test a provider",
        operation_id="judge_provider_test_start",
        request=CheckInputSerializer,
        responses={202: CheckSerializer, 400: ErrorSerializer, **NOT_FOUND},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Ask a worker to test; it sends a made-up question and never a thread. While one runs, that one."""
        provider = providers.testable_provider(request.user, pk)
        wanted = _valid(CheckInputSerializer(data=request.data))
        try:
            check = request_check(provider.pk, wanted["model_name"], person(request).pk)
        except LLMProvider.DoesNotExist:  # deleted since
            raise Http404 from None
        # Read again: a test whose message could not be sent has failed by now.
        return Response(CheckSerializer(check_report(poll_check(check.pk))).data, status.HTTP_202_ACCEPTED)


def _valid(form: Any) -> dict[str, Any]:
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)


def _shown(request: Request, pk: int) -> dict[str, Any]:
    provider = providers.visible_provider(request.user, pk)
    return ProviderSerializer(provider, context={"request": request}).data


def _visible_model(request: Request, pk: int, model_pk: int) -> JudgeModel:
    for model in providers.visible_provider(request.user, pk).models.all():
        if model.pk == model_pk:
            return model
    raise Http404
