"""Planning a session."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judge.models import JudgeModel, JudgeSession, Rubric
from tests.factories import JudgeModelFactory, LLMProviderFactory, UserFactory
from tests.pillars.factories import EmailThreadFactory, PillarFactory
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def form(model: JudgeModel) -> dict[str, Any]:
    """What a researcher fills in: two pillars of three threads."""
    for number in (1, 2):
        pillar = PillarFactory(number=number)
        for _ in range(3):
            EmailThreadFactory(pillar=pillar)
    return {
        "session_name": "Example plan",
        "pillar_ids": [1, 2],
        "comparison_mode": "pillar_sample",
        "sampling_strategy": "rotating",
        "samples_per_pillar": 3,
        "repetitions_per_pair": 2,
        "position_swap": "on",
        "worker_count": 4,
        "judge_model_ids": [model.pk],
        "language": "de",
        "rubric_id": Rubric.objects.get(is_default=True).pk,
        "seed": 11,
        "calculate_elo": "on",
    }


def test_create_and_start_goes_to_the_live_page(
    form: dict[str, Any], reader: Client, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        answer = reader.post("/judge/config/", {**form, "start": "1"})
    session = JudgeSession.objects.get()
    assert answer["Location"] == f"/judge/session/{session.pk}/"
    assert (session.status, session.seed, session.worker_count) == ("queued", 11, 4)
    assert (session.repetitions_per_pair, session.position_swap) == (2, True)
    assert session.total_comparisons == session.comparisons.count() == 12


def test_create_only_waits_for_the_start(form: dict[str, Any], reader: Client) -> None:
    reader.post("/judge/config/", form)
    assert JudgeSession.objects.get().status == "created"


def test_without_a_seed_one_is_drawn(form: dict[str, Any], reader: Client) -> None:
    reader.post("/judge/config/", form | {"seed": ""})
    assert JudgeSession.objects.get().seed >= 0


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("session_name", " ", "This field is required."),
        ("pillar_ids", [1], "Choose at least two pillars."),
        ("pillar_ids", [], "Choose at least two pillars."),
        ("judge_model_ids", [], "Choose one to three judges."),
        ("samples_per_pillar", "0", "greater than or equal to 1"),
        ("samples_per_pillar", "many", "Enter a whole number."),
        ("worker_count", "6", "Select a valid choice."),
        ("seed", "-1", "greater than or equal to 0"),
        ("pillar_ids", [1, 77], "Select a valid choice."),
    ],
)
def test_a_mistake_is_told_at_its_field_and_nothing_is_written(
    field: str, value: Any, message: str, form: dict[str, Any], reader: Client
) -> None:
    answer = reader.post("/judge/config/", form | {field: value, "start": "1"})
    assert answer.status_code == 422
    page = answer.content.decode()
    errors = page[page.index(f'id="id_{field}_error"') :]
    assert message in errors[: errors.index("</ul>")]
    assert 'role="alert"' in page
    assert not JudgeSession.objects.exists()


def test_what_was_typed_is_still_there_after_a_mistake(form: dict[str, Any], reader: Client) -> None:
    page = reader.post("/judge/config/", form | {"pillar_ids": [1]}).content.decode()
    assert 'value="Example plan"' in page


def test_the_advanced_part_opens_when_the_mistake_is_in_it(form: dict[str, Any], reader: Client) -> None:
    assert (
        '<details class="card advanced" open>' in reader.post("/judge/config/", form | {"seed": "x"}).content.decode()
    )
    assert '<details class="card advanced">' in reader.get("/judge/config/").content.decode()


def test_the_estimate_is_counted_by_the_planner(form: dict[str, Any], reader: Client) -> None:
    part = reader.post("/judge/config/estimate/", form).content.decode()
    assert "<strong>12</strong> comparisons" in part
    assert not JudgeSession.objects.exists()


def test_the_estimate_does_not_wait_for_a_name(form: dict[str, Any], reader: Client) -> None:
    assert "<strong>12</strong>" in reader.post("/judge/config/estimate/", form | {"session_name": ""}).content.decode()


def test_the_estimate_names_the_field_that_is_wrong(form: dict[str, Any], reader: Client) -> None:
    part = reader.post("/judge/config/estimate/", form | {"samples_per_pillar": 0}).content.decode()
    assert "Samples per pillar: Ensure this value is greater than or equal to 1." in part


def test_the_estimate_says_what_is_missing(form: dict[str, Any], reader: Client) -> None:
    part = reader.post("/judge/config/estimate/", form | {"pillar_ids": [1]}).content.decode()
    assert "Choose at least two pillars." in part
    assert "<strong>" not in part


def test_pillars_stand_there_with_their_thread_counts(form: dict[str, Any], reader: Client) -> None:
    page = reader.get("/judge/config/").content.decode()
    assert page.count("3 threads") == 2
    assert 'class="chip pillar-' in page


def test_models_of_other_people_are_neither_offered_nor_taken(form: dict[str, Any], reader: Client) -> None:
    foreign = JudgeModelFactory(provider=LLMProviderFactory(owner=UserFactory()), model_name="example-foreign")
    assert "example-foreign" not in reader.get("/judge/config/").content.decode()
    assert reader.post("/judge/config/", form | {"judge_model_ids": [foreign.pk]}).status_code == 422


def test_a_real_model_is_chosen_before_the_simulated_one(form: dict[str, Any], reader: Client) -> None:
    real = JudgeModelFactory(provider=LLMProviderFactory(is_simulated=False))
    page = reader.get("/judge/config/").content.decode()
    chosen = [line for line in page.splitlines() if 'name="judge_model_ids"' in line and "checked" in line]
    assert len(chosen) == 1
    assert f'value="{real.pk}"' in chosen[0]


def test_without_any_model_the_page_says_who_can_help(reader: Client) -> None:
    assert "No judge is available yet" in reader.get("/judge/config/").content.decode()


def test_planning_needs_its_permission(form: dict[str, Any], owner: User) -> None:
    owner.groups.clear()
    client = browser_of(owner)
    assert client.get("/judge/config/").status_code == 403
    assert client.post("/judge/config/", form).status_code == 403
    assert client.post("/judge/config/estimate/", form).status_code == 403
