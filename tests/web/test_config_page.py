"""Planning a session."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from judge.models import JudgeSession
from tests.factories import JudgeModelFactory, LLMProviderFactory, UserFactory
from tests.pillars.factories import EmailThreadFactory, PillarFactory
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db


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


def test_what_was_typed_is_still_there_after_a_mistake(form: dict[str, Any], reader: Client) -> None:
    page = reader.post("/judge/config/", form | {"pillar_ids": [1]}).content.decode()
    assert 'value="Example plan"' in page


def test_the_advanced_part_opens_when_the_mistake_is_in_it(form: dict[str, Any], reader: Client) -> None:
    page = reader.post("/judge/config/", form | {"seed": "x"}).content.decode()
    assert '<details class="card advanced" open>' in page
    assert '<details class="card advanced">' in reader.get("/judge/config/").content.decode()


def test_pillars_stand_there_with_their_thread_counts(form: dict[str, Any], reader: Client) -> None:
    page = reader.get("/judge/config/").content.decode()
    assert page.count("3 threads") == 2
    assert 'class="chip pillar-' in page


def test_models_of_other_people_are_neither_offered_nor_taken(form: dict[str, Any], reader: Client) -> None:
    foreign = JudgeModelFactory(provider=LLMProviderFactory(owner=UserFactory()), model_name="example-foreign")
    assert "example-foreign" not in reader.get("/judge/config/").content.decode()
    assert reader.post("/judge/config/", form | {"judge_model_ids": [foreign.pk]}).status_code == 400


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


def test_the_form_is_the_same_number_of_queries_however_much_there_is(form: dict[str, Any], reader: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert reader.get("/judge/config/").status_code == 200
        return len(captured)

    reader.get("/judge/config/")
    few = queries()
    for number in (1, 2, 3):
        EmailThreadFactory.create_batch(5, pillar=PillarFactory(number=number))
        JudgeModelFactory()
    assert queries() == few <= 12


def test_every_mode_can_be_planned_from_the_page(form: dict[str, Any], reader: Client) -> None:
    sizes = {"pillar_sample": 12, "round_robin": 36, "free_for_all": 60, "adaptive": 20}
    for mode, size in sizes.items():
        answer = reader.post("/judge/config/", form | {"comparison_mode": mode, "comparison_budget": 20})
        session = JudgeSession.objects.latest("pk")
        assert answer["Location"] == f"/judge/session/{session.pk}/"
        assert (session.comparison_mode, session.total_comparisons) == (mode, size)
        assert session.comparison_budget == (20 if mode == "adaptive" else None)


def test_a_mistake_in_a_field_that_the_mode_does_not_use_is_forgotten(form: dict[str, Any], reader: Client) -> None:
    wrong = {"samples_per_pillar": "0", "comparison_budget": "many", "comparison_mode": "round_robin"}
    assert reader.post("/judge/config/", form | wrong).status_code == 302
    assert JudgeSession.objects.get().samples_per_pillar == 10


def test_judges_stand_in_groups_and_the_simulated_one_is_labelled(
    form: dict[str, Any], reader: Client, owner: User
) -> None:
    assert "My own providers" not in reader.get("/judge/config/").content.decode()
    JudgeModelFactory(provider=LLMProviderFactory(owner=owner, is_simulated=False), model_name="example-own")
    page = reader.get("/judge/config/").content.decode()
    assert page.index("For everybody") < page.index("simulated, no LLM") < page.index("My own providers")
    assert page.index("My own providers") < page.index("example-own")


def test_a_large_plan_is_created_once_it_is_confirmed(form: dict[str, Any], reader: Client, settings: Settings) -> None:
    settings.JUDGE_CONFIRM_ABOVE = 10
    answer = reader.post("/judge/config/", form)
    assert answer.status_code == 400
    page = answer.content.decode()
    assert "Confirm that you want it that large." in page
    assert 'name="confirm_large_plan"' in page
    assert not JudgeSession.objects.exists()
    assert reader.post("/judge/config/", form | {"confirm_large_plan": "12"}).status_code == 302


def test_a_plan_that_grew_since_it_was_confirmed_is_not_confirmed(
    form: dict[str, Any], reader: Client, settings: Settings
) -> None:
    settings.JUDGE_CONFIRM_ABOVE = 10
    grown = form | {"confirm_large_plan": "12", "comparison_mode": "free_for_all"}
    answer = reader.post("/judge/config/", grown)
    assert answer.status_code == 400
    assert "Confirm that you want it that large." in answer.content.decode()
    assert not JudgeSession.objects.exists()
    assert reader.post("/judge/config/", grown | {"confirm_large_plan": "60"}).status_code == 302
