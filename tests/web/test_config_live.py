"""What the new-session page says while it is being filled in: estimate, counts of modes, recommendations, mistakes."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from judge.models import JudgeSession
from tests.factories import JudgeModelFactory, LLMProviderFactory
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db
ESTIMATE = "/judge/config/estimate/"
PRESET = "/judge/config/preset/"


def part(reader: Client, form: dict[str, Any]) -> str:
    answer = reader.post(ESTIMATE, form, headers={"hx-request": "true"})
    assert answer.status_code == 200
    return answer.content.decode()


def inside(page: str, element_id: str) -> str:
    """The words of the element with this id, up to the next element that has one."""
    begin = page.index(f'id="{element_id}"')
    end = page.find(' id="', begin + 1)
    return " ".join(re.sub(r"<[^>]*>|<[^>]*$|^[^>]*>", " ", page[begin : end if end > 0 else None]).split())


def test_the_estimate_is_counted_by_the_planner(form: dict[str, Any], reader: Client) -> None:
    assert "<strong>12</strong> comparisons" in part(reader, form)
    assert not JudgeSession.objects.exists()


def test_the_estimate_does_not_wait_for_a_name(form: dict[str, Any], reader: Client) -> None:
    assert "<strong>12</strong>" in part(reader, form | {"session_name": ""})


def test_every_mode_shows_its_count_beside_it(form: dict[str, Any], reader: Client) -> None:
    page = part(reader, form | {"comparison_budget": 21})
    counts = {
        mode: inside(page, f"count-{mode}") for mode in ("pillar_sample", "round_robin", "free_for_all", "adaptive")
    }
    assert counts == {
        "pillar_sample": "12 comparisons",
        "round_robin": "36 comparisons",
        "free_for_all": "60 comparisons",
        "adaptive": "20 comparisons",
    }
    assert page.count('hx-swap-oob="true"') >= len(counts)


def test_a_mode_that_is_not_possible_says_why(form: dict[str, Any], reader: Client) -> None:
    page = part(reader, form | {"pillar_ids": [1]})
    assert inside(page, "count-round_robin") == "Choose at least two pillars for this mode."
    assert inside(page, "count-free_for_all") == "12 comparisons"
    assert "Still open:" in page
    assert "<strong>" not in page


def test_nothing_is_said_of_what_nobody_has_chosen_yet(form: dict[str, Any], reader: Client) -> None:
    page = part(reader, form | {"pillar_ids": [], "session_name": ""})
    assert "errorlist" not in page
    assert "Choose the pillars whose threads are to be compared." in page
    assert inside(page, "preset-note-ranking") == "Choose pillars first."


@pytest.mark.parametrize("value", ["0", "-3", "many", "1.5"])
def test_a_wrong_number_is_told_at_its_field_at_once(value: str, form: dict[str, Any], reader: Client) -> None:
    page = part(reader, form | {"samples_per_pillar": value})
    assert 'id="id_samples_per_pillar_error"' in page
    assert "Samples per pillar: " in page
    assert "errorlist" not in part(reader, form)


def test_a_complaint_goes_when_the_wrong_number_is_taken_away(form: dict[str, Any], reader: Client) -> None:
    assert "errorlist" in part(reader, form | {"samples_per_pillar": "0"})
    page = part(reader, form | {"samples_per_pillar": ""})
    assert 'id="errors-samples_per_pillar"' in page
    assert "errorlist" not in page


def test_minutes_tokens_cost_and_coverage_are_told_in_words(form: dict[str, Any], reader: Client) -> None:
    page = part(reader, form)
    assert "unknown: no answers yet" in page
    assert page.count("3 of 3 · 100%") == 2
    assert re.search(r'aria-current="true">\s*1 min', page)


def test_a_forbidden_provider_is_a_warning_and_the_plan_is_counted(form: dict[str, Any], reader: Client) -> None:
    provider = LLMProviderFactory(base_url="https://example.org/v1", is_simulated=False)
    page = part(reader, form | {"judge_model_ids": [JudgeModelFactory(provider=provider).pk]})
    assert "the provider is not approved for personal data" in page
    assert "<strong>12</strong>" in page


def test_a_confirmation_holds_for_the_size_that_was_confirmed(
    form: dict[str, Any], reader: Client, settings: Settings
) -> None:
    settings.JUDGE_CONFIRM_ABOVE = 10
    assert re.search(r'id="id_confirm_large_plan"[^>]* checked', part(reader, form | {"confirm_large_plan": "12"}))
    assert not re.search(r'id="id_confirm_large_plan"[^>]* checked', part(reader, form | {"confirm_large_plan": "11"}))
    settings.JUDGE_CONFIRM_ABOVE = 12
    assert "confirm_large_plan" not in part(reader, form)


def test_a_recommendation_sets_the_fields_and_keeps_the_rest(form: dict[str, Any], reader: Client) -> None:
    answer = reader.post(PRESET, form | {"preset": "robust", "position_swap": ""}, headers={"hx-request": "true"})
    fields = answer.content.decode()
    assert answer["HX-Trigger-After-Settle"] == "plan:set"
    assert re.search(r'name="samples_per_pillar" value="10"', fields)
    assert re.search(r'name="repetitions_per_pair" value="3"', fields)
    assert re.search(r'value="pillar_sample"[^>]* checked', fields)
    assert re.search(r'name="position_swap"[^>]* checked', fields)
    assert "errorlist" not in fields


def test_the_recommendation_by_size_follows_the_pillars(form: dict[str, Any], reader: Client) -> None:
    fields = reader.post(PRESET, form | {"preset": "pillars"}).content.decode()
    assert re.search(r'value="free_for_all"[^>]* checked', fields)
    assert not JudgeSession.objects.exists()


def test_an_unknown_recommendation_changes_nothing(form: dict[str, Any], reader: Client) -> None:
    fields = reader.post(PRESET, form | {"preset": "best", "samples_per_pillar": "abc"}).content.decode()
    assert 'name="samples_per_pillar" value="abc"' in fields


@pytest.mark.parametrize("button", [{"preset": "quick"}, {"count": "1"}])
def test_without_scripts_the_page_counts_and_recommends_as_well(
    button: dict[str, str], form: dict[str, Any], reader: Client
) -> None:
    answer = reader.post("/judge/config/", form | {"session_name": "", "description": "Notes so far"} | button)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "errorlist" not in page
    assert "Notes so far" in page
    assert f"<strong>{6 if 'preset' in button else 12}</strong> comparisons" in page
    assert not JudgeSession.objects.exists()


def test_a_refresh_takes_the_same_number_of_queries_however_much_there_is(form: dict[str, Any], reader: Client) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            part(reader, form)
        return len(captured)

    few = queries()
    for number in (1, 2):
        EmailThreadFactory.create_batch(30, pillar=PillarFactory(number=number))
    JudgeModelFactory()
    assert queries() == few <= 20
