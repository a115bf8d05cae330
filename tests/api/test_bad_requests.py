"""Requests that no honest client sends are the sender's fault: 4xx in the one shape, never a server error."""

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import override_settings
from django.urls import reverse
from rest_framework.test import APIClient

from judge.models import JudgeModel
from tests.factories import StaffFactory
from tests.pillars.factories import PillarFactory

pytestmark = pytest.mark.django_db

SHAPE = {"error", "error_type", "details"}
NESTED = "[" * 200_000
PLAN = {"session_name": "Example", "pillar_ids": [1, 2]}


@pytest.mark.parametrize("body", [NESTED, '{"a":' * 200_000], ids=["lists", "objects"])
def test_a_body_that_is_nested_without_end_is_refused(client: APIClient, body: str) -> None:
    answer = client.post(reverse("judge-api:sessions"), body, content_type="application/json")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "parse_error")
    assert set(answer.json()) == SHAPE


def test_a_nested_body_is_refused_where_threads_are_assigned(client: APIClient, owner: User) -> None:
    PillarFactory(number=1)
    client.force_login(StaffFactory())
    answer = client.post(reverse("pillars-api:assign", args=[1]), NESTED, content_type="application/json")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "parse_error")


def test_more_form_fields_than_django_takes_are_refused(client: APIClient) -> None:
    body = "&".join(f"field{n}=1" for n in range(1500))
    answer = client.post(reverse("judge-api:sessions"), body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "parse_error")


def test_more_files_than_django_takes_are_refused() -> None:
    PillarFactory(number=1)
    client = APIClient()
    client.force_login(StaffFactory())
    files = {f"file{n}": SimpleUploadedFile("example.json", b"[]") for n in range(150)}
    answer = client.post(reverse("pillars-api:import", args=[1]), files, format="multipart")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "parse_error")


@override_settings(DATA_UPLOAD_MAX_MEMORY_SIZE=1000)
def test_a_body_that_is_too_large_is_refused_as_such(client: APIClient) -> None:
    body = f"session_name={'x' * 2000}"
    answer = client.post(reverse("judge-api:sessions"), body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, answer.json()["error_type"]) == (413, "request_too_large")


@pytest.mark.parametrize("token", [b"\xff\xfe", b"\x80" * 64])
def test_a_token_that_is_no_text_is_a_wrong_token(token: bytes) -> None:
    client = APIClient(headers={"authorization": f"Token {token.decode('latin-1')}"})
    answer = client.get(reverse("judge-api:sessions"))
    assert (answer.status_code, answer.json()["error_type"]) == (401, "authentication_failed")
    assert answer["WWW-Authenticate"] == "Token"


@pytest.mark.parametrize("route", ["sessions", "estimate"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("judge_model_ids", [2**63]),
        ("judge_model_ids", [10**30]),
        ("judge_model_ids", list(range(1, 300_000))),
        ("pillar_ids", [1, 2] * 1000),
        ("rubric_id", 10**30),
    ],
    ids=["one too large", "far too large", "very many models", "very many pillars", "rubric"],
)
def test_ids_that_no_database_holds_are_refused_at_their_field(
    client: APIClient, model: JudgeModel, route: str, field: str, value: object
) -> None:
    answer = client.post(reverse(f"judge-api:{route}"), {**PLAN, field: value}, format="json")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "validation_error")
    assert list(answer.json()["details"]) == [field]
