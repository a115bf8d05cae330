"""Nonsense is told at its field, with status 400 and no session, by the page and the API alike."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from judge.models import JudgeModel, JudgeSession
from tests.api.conftest import client_of
from tests.factories import JudgeModelFactory

pytestmark = pytest.mark.django_db
FIELDS = (
    "samples_per_pillar",
    "repetitions_per_pair",
    "max_threads_per_pillar",
    "worker_count",
    "seed",
)
JUDGE = "the judge"  # stands for the id of the only model
NONSENSE: list[tuple[str, Any]] = [
    *[(field, value) for field in FIELDS for value in (0, -1, "three", "1.5", 10**30) if (field, value) != ("seed", 0)],
    ("session_name", ""),
    ("session_name", "   "),
    ("session_name", "x" * 201),
    ("pillar_ids", []),
    ("pillar_ids", [1]),
    ("pillar_ids", [1, 77]),
    ("pillar_ids", [1, 3]),  # nothing in pillar 3
    ("pillar_ids", [1, 0]),
    ("pillar_ids", [1, -2]),
    ("pillar_ids", ["one", "two"]),
    ("pillar_ids", [1, 1]),
    ("worker_count", 6),
    ("judge_model_ids", []),
    ("judge_model_ids", [JUDGE, JUDGE]),
    ("judge_model_ids", [987654]),
    ("judge_model_ids", ["me"]),
    ("comparison_mode", "everybody"),
    ("sampling_strategy", "by_taste"),
    ("language", "fr"),
    ("rubric_id", 987654),
]


def values(value: Any, model: JudgeModel) -> Any:
    return [model.pk if one == JUDGE else one for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("field", "value"), NONSENSE, ids=lambda part: str(part)[:24])
def test_it_is_told_at_its_field_on_the_page_and_in_the_api(
    field: str, value: Any, form: dict[str, Any], owner: User, reader: Client, model: JudgeModel
) -> None:
    nonsense = {field: values(value, model)}
    answer = reader.post("/judge/config/", form | nonsense | {"start": "1"})
    assert answer.status_code == 400
    page = answer.content.decode()
    errors = page[page.index(f'id="errors-{field}"') :]
    assert "<li>" in errors[: errors.index("</div>")]
    assert 'role="alert"' in page

    body = {**form, "position_swap": True, "calculate_elo": True, **nonsense}
    told = client_of(owner).post(reverse("judge-api:sessions"), body, format="json")
    assert told.status_code == 400
    assert field in told.json()["details"]
    assert not JudgeSession.objects.exists()


@pytest.mark.parametrize("budget", ["", 0, -1, 1, "many", 10**30])
def test_an_adaptive_session_needs_a_budget_that_buys_a_pair(
    budget: Any, form: dict[str, Any], owner: User, reader: Client
) -> None:
    adaptive = {"comparison_mode": "adaptive", "comparison_budget": budget}
    page = reader.post("/judge/config/", form | adaptive)
    errors = page.content.decode().split('id="errors-comparison_budget"')[1]
    assert (page.status_code, "<li>" in errors[: errors.index("</div>")]) == (400, True)
    body = {**form, "position_swap": True, "calculate_elo": True, **adaptive}
    told = client_of(owner).post(reverse("judge-api:sessions"), body, format="json")
    assert (told.status_code, list(told.json()["details"])) == (400, ["comparison_budget"])
    assert not JudgeSession.objects.exists()


def test_four_judges_are_too_many(form: dict[str, Any], owner: User, reader: Client, model: JudgeModel) -> None:
    many = {"judge_model_ids": [model.pk, *(JudgeModelFactory().pk for _ in range(3))]}
    assert "Choose one to three judges." in reader.post("/judge/config/", form | many).content.decode()
    body = {**form, "position_swap": True, "calculate_elo": True, **many}
    assert client_of(owner).post(reverse("judge-api:sessions"), body, format="json").status_code == 400
    assert not JudgeSession.objects.exists()
