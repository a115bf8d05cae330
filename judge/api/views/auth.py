"""Tokens for programs. Passwords and tokens travel in bodies and headers, never in an address."""

from django.contrib.auth import authenticate
from drf_spectacular.utils import extend_schema
from knox.auth import TokenAuthentication
from knox.models import get_token_model
from knox.settings import knox_settings
from rest_framework import status
from rest_framework.permissions import AllowAny, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from judge.api.errors import TooManyAttempts, WrongCredentials
from judge.api.serializers.auth import LoginSerializer, TokenSerializer
from judge.api.serializers.common import ErrorSerializer


class TokenView(APIView):
    """A token for name and password."""

    # No authentication: a stale session cookie must not demand a CSRF token of somebody who logs in with a password.
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(
        tags=["auth"],
        summary="Get a token",
        request=LoginSerializer,
        responses={200: TokenSerializer, 400: ErrorSerializer, 429: ErrorSerializer},
        auth=[],
    )
    def post(self, request: Request) -> Response:
        """Check name and password and answer with a new token. Wrong passwords lock the name for a while."""
        login = LoginSerializer(data=request.data)
        login.is_valid(raise_exception=True)
        django_request = request._request
        user = authenticate(django_request, **login.validated_data)
        if getattr(django_request, "axes_locked_out", False):
            # The middleware would replace our answer by a page of its own.
            django_request.axes_locked_out = False  # type: ignore[attr-defined]
            raise TooManyAttempts
        if user is None:
            raise WrongCredentials
        _make_room(user.pk)
        stored, token = get_token_model().objects.create(user=user)
        return Response(TokenSerializer({"token": token, "expiry": stored.expiry}).data)


class RevokeTokenView(APIView):
    """The end of a token."""

    authentication_classes = (TokenAuthentication,)
    permission_classes = (IsAuthenticated,)

    @extend_schema(tags=["auth"], summary="Revoke the token of this request", request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """The token that this request was made with is worth nothing any more."""
        request.auth.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


def _make_room(user_id: int) -> None:
    """Drop the oldest tokens beyond the limit: a script that always logs in anew must not lock itself out."""
    tokens = get_token_model().objects.filter(user=user_id).order_by("-created")
    surplus = list(tokens.values_list("pk", flat=True)[knox_settings.TOKEN_LIMIT_PER_USER - 1 :])
    if surplus:
        tokens.filter(pk__in=surplus).delete()
