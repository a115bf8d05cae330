"""Every error has one shape and the status that fits it."""

import logging
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404
from django.urls import reverse
from rest_framework import exceptions
from rest_framework.test import APIClient

from judge.api.errors import handle
from judge.models import JudgeSession
from judge.services.errors import ActionRefused, ConfigRefused

CASES: list[tuple[Exception, int, str]] = [
    (Http404(), 404, "not_found"),
    (JudgeSession.DoesNotExist(), 404, "not_found"),
    (PermissionDenied(), 403, "permission_denied"),
    (exceptions.NotAuthenticated(), 401, "not_authenticated"),
    (exceptions.MethodNotAllowed("PUT"), 405, "method_not_allowed"),
    (exceptions.ParseError(), 400, "parse_error"),
    (exceptions.ValidationError({"seed": ["no"]}), 400, "validation_error"),
    (exceptions.Throttled(wait=3), 429, "throttled"),
    (ConfigRefused({"seed": ["no"]}), 400, "config_refused"),
    (ActionRefused("not_allowed_in_status", "no"), 409, "not_allowed_in_status"),
    (OperationalError("secret"), 503, "database_unavailable"),
    (RuntimeError("secret"), 500, "internal_error"),
]


@pytest.mark.parametrize(("error", "status", "error_type"), CASES, ids=[type(case[0]).__name__ for case in CASES])
def test_each_error_has_its_status_and_the_one_shape(error: Exception, status: int, error_type: str) -> None:
    answer = handle(error, {})
    assert answer.status_code == status
    assert set(answer.data) == {"error", "error_type", "details"}
    assert answer.data["error_type"] == error_type
    assert answer.data["error"]
    assert "secret" not in str(answer.data)


def test_field_errors_stand_at_their_fields() -> None:
    assert handle(ConfigRefused({"seed": ["no"]}), {}).data["details"] == {"seed": ["no"]}
    assert handle(exceptions.ValidationError(["no"]), {}).data["details"] == {"non_field_errors": ["no"]}


def test_a_refusal_with_rows_keeps_them() -> None:
    class Refused(exceptions.APIException):
        status_code = 422
        default_code = "import_refused"
        details = [{"row": 3, "field": "id", "message": "twice"}]

    answer = handle(Refused(), {})
    assert (answer.status_code, answer.data["error_type"]) == (422, "import_refused")
    assert answer.data["details"] == [{"row": 3, "field": "id", "message": "twice"}]


def test_an_unexpected_error_is_logged_without_what_it_says(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise RuntimeError("a sentence of a letter")
    except RuntimeError as error:
        with caplog.at_level(logging.ERROR):
            handle(error, {})
    assert "RuntimeError" in caplog.text
    assert "test_errors.py" in caplog.text
    assert caplog.records[0].exc_info is None
    assert "RuntimeError: a sentence of a letter" not in caplog.text


@pytest.mark.django_db
@pytest.mark.parametrize("body", ["{", "[1, 2]", '"text"', '{"seed": NaN}', "\x00"])
def test_a_body_that_is_no_object_is_refused(client: APIClient, body: str) -> None:
    answer = client.post(reverse("judge-api:estimate"), body, content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "error_type", "details"}


@pytest.mark.django_db
def test_other_content_types_are_refused(client: APIClient) -> None:
    answer: Any = client.post(reverse("judge-api:estimate"), "a=b", content_type="text/csv")
    assert (answer.status_code, answer.json()["error_type"]) == (415, "unsupported_media_type")


@pytest.mark.django_db
def test_errors_speak_the_readers_language(client: APIClient) -> None:
    address = reverse("judge-api:session", args=[10**30])
    answer = client.get(address, headers={"Accept-Language": "de"})
    assert (answer.status_code, answer.json()["error"]) == (404, "Nicht gefunden.")
