"""Every error of the API in one shape and in one place: {error, error_type, details}.

``error`` is a sentence for people in their language, ``error_type`` a stable word for programs, ``details`` what
belongs to single fields or rows (an empty object where there is nothing more to say).
"""

import logging
import traceback
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.utils.encoding import force_str
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions, status
from rest_framework.authentication import get_authorization_header
from rest_framework.response import Response
from rest_framework.views import set_rollback

from judge.models import JudgeSession
from judge.services.errors import ConfigRefused, ServiceError

logger = logging.getLogger(__name__)


class TooManyAttempts(exceptions.APIException):
    """The login of a name is locked for a while because of wrong passwords."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_detail = _("Too many wrong passwords. Please try again later.")
    default_code = "too_many_attempts"


class WrongCredentials(exceptions.APIException):
    """Name or password do not fit; which of them is not said."""

    status_code = status.HTTP_400_BAD_REQUEST
    default_detail = _("Name or password is wrong.")
    default_code = "wrong_credentials"


class RequestTooLarge(exceptions.APIException):
    """The body is larger than any request of this API needs to be."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = _("The request is not valid.")
    default_code = "request_too_large"


def handle(exc: Exception, context: dict[str, Any]) -> Response:
    """Turn any exception of a view into the one error shape with the status that fits it."""
    set_rollback()
    exc = _in_framework_words(exc, context)
    if isinstance(exc, ServiceError):
        return _refusal(exc)
    if isinstance(exc, exceptions.APIException):
        return _api_error(exc)
    return _unexpected(exc, context)


def _in_framework_words(exc: Exception, context: dict[str, Any]) -> Exception:
    """What Python, Django and knox say of a bad request, as the framework's own exception; others as they are."""
    match exc:
        # A session that was deleted between loading and locking it is gone like any other.
        case Http404() | JudgeSession.DoesNotExist():
            return exceptions.NotFound()
        case PermissionDenied():
            return exceptions.PermissionDenied()
        case RequestDataTooBig():
            return RequestTooLarge()
        case SuspiciousOperation():  # too many fields or files
            return exceptions.ParseError(_("The request is not valid."))
        case RecursionError():  # nothing of ours nests; a body can
            return exceptions.ParseError(_("The values are nested too deeply."))
        case UnicodeDecodeError() if _is_of_the_token(exc, context):
            return _token_refused()
    return exc


def _is_of_the_token(exc: UnicodeDecodeError, context: dict[str, Any]) -> bool:
    """Whether it is the Authorization header that could not be decoded."""
    request = context.get("request")
    return request is not None and bytes(exc.object) in get_authorization_header(request).split()


def _token_refused() -> exceptions.AuthenticationFailed:
    refused = exceptions.AuthenticationFailed(_("Invalid token."))
    refused.auth_header = "Token"  # type: ignore[attr-defined]  # as the framework notes it
    return refused


def _answer(code: int, error: object, error_type: str, details: Any = None) -> Response:
    data = {"error": force_str(error), "error_type": error_type, "details": {} if details is None else details}
    return Response(data, status=code)


def _refusal(exc: ServiceError) -> Response:
    """A configuration that cannot be planned is the request's fault; an action that does not fit is a conflict."""
    if isinstance(exc, ConfigRefused):
        return _answer(status.HTTP_400_BAD_REQUEST, exc.message, exc.code, _texts(exc.errors))
    return _answer(status.HTTP_409_CONFLICT, exc.message, exc.code)


def _api_error(exc: exceptions.APIException) -> Response:
    if isinstance(exc, exceptions.ValidationError):
        by_field = exc.detail if isinstance(exc.detail, dict) else {"non_field_errors": exc.detail}
        return _answer(exc.status_code, _("The request is not valid."), "validation_error", by_field)
    # Refusals with rows of their own (an import) carry them as ``details``.
    details = getattr(exc, "details", None)
    if isinstance(exc.detail, dict | list):
        response = _answer(exc.status_code, exc.default_detail, exc.default_code, details or exc.detail)
    else:
        response = _answer(exc.status_code, exc.detail, exc.detail.code or exc.default_code, details)
    if header := getattr(exc, "auth_header", None):
        response["WWW-Authenticate"] = header
    if wait := getattr(exc, "wait", None):
        response["Retry-After"] = str(int(wait))
    return response


def _unexpected(exc: Exception, context: dict[str, Any]) -> Response:
    """Log where it happened but not what it says: an exception's text may hold what was in a thread."""
    view = type(context.get("view")).__name__
    frames = "".join(traceback.format_tb(exc.__traceback__))
    logger.error("api_failed view=%s error=%s\n%s", view, type(exc).__name__, frames)
    if isinstance(exc, OperationalError | InterfaceError):
        message = _("The database cannot be reached at the moment.")
        return _answer(status.HTTP_503_SERVICE_UNAVAILABLE, message, "database_unavailable")
    return _answer(status.HTTP_500_INTERNAL_SERVER_ERROR, _("Something went wrong here."), "internal_error")


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _texts(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(item) for item in value]
    return str(value) if isinstance(value, Promise) else value
