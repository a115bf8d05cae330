"""Plans over HTTP: every mode, names changed later, copies of a configuration, large plans."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from judge.models import JudgeModel, JudgePair, JudgeSession
from tests.api.conftest import client_of
from tests.factories import JudgeModelFactory, LLMProviderFactory, SessionFactory, share
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db
SESSIONS = reverse("judge-api:sessions")
ESTIMATE = reverse("judge-api:estimate")


def of(name: str, session: JudgeSession) -> str:
    return reverse(f"judge-api:{name}", args=[session.pk])


@pytest.fixture
def ten_each(db: None) -> None:
    """Pillars 1, 3 and 5 with ten threads each."""
    for number in (1, 3, 5):
        for _ in range(10):
            EmailThreadFactory(pillar=PillarFactory(number=number))


@pytest.mark.parametrize(
    ("choices", "pairs"),
    [
        ({"comparison_mode": "pillar_sample", "samples_per_pillar": 10}, 30),
        ({"comparison_mode": "pillar_sample", "samples_per_pillar": 10, "repetitions_per_pair": 3}, 90),
        ({"comparison_mode": "round_robin"}, 300),
        ({"comparison_mode": "free_for_all"}, 435),
        ({"comparison_mode": "free_for_all", "max_threads_per_pillar": 5}, 105),
    ],
)
@pytest.mark.parametrize("swap", [False, True])
def test_the_estimate_is_what_is_planned(
    client: APIClient, model: JudgeModel, ten_each: None, choices: dict[str, Any], pairs: int, swap: bool
) -> None:
    body = {"pillar_ids": [1, 3, 5], "position_swap": swap, "seed": 3, **choices}
    estimate = client.post(ESTIMATE, body, format="json").json()
    assert (estimate["base_comparisons"], estimate["with_position_swap"]) == (pairs, pairs * (1 + swap))
    created = client.post(SESSIONS, body | {"session_name": "Example"}, format="json").json()
    session = JudgeSession.objects.get(pk=created["id"])
    assert session.comparisons.count() == created["total_comparisons"] == created["planned_comparisons"]
    assert created["total_comparisons"] == estimate["total_comparisons"]
    assert client.get(of("session-estimate", session)).json() == estimate


def test_an_adaptive_session_needs_a_budget_and_shows_it(client: APIClient, model: JudgeModel, ten_each: None) -> None:
    body: dict[str, Any] = {"session_name": "Example", "pillar_ids": [1], "comparison_mode": "adaptive"}
    for budget in (None, 0, -5, 1, 10**9, "many"):
        answer = client.post(SESSIONS, body | {"comparison_budget": budget}, format="json")
        assert (answer.status_code, list(answer.json()["details"])) == (400, ["comparison_budget"])
    created = client.post(SESSIONS, body | {"comparison_budget": 41}, format="json").json()
    assert (created["comparison_budget"], created["total_comparisons"]) == (41, 40)
    assert 0 < created["planned_comparisons"] < 40


def test_name_and_description_can_be_changed_and_nothing_else(
    client: APIClient, session: JudgeSession, model: JudgeModel
) -> None:
    before = client.get(of("session", session)).json()
    frozen = client.patch(of("session", session), {"session_name": "No", "seed": 99, "worker_count": 1}, format="json")
    assert (frozen.status_code, sorted(frozen.json()["details"])) == (400, ["seed", "worker_count"])
    change = {"session_name": " Another name ", "description": "Why it was run"}
    answer = client.patch(of("session", session), change, format="json")
    assert answer.status_code == 200
    assert answer.json() == before | {"session_name": "Another name", "description": "Why it was run"}
    assert client.patch(of("session", session), {"description": ""}, format="json").json()["description"] == ""
    for name in ("", "   ", "x" * 201, None):
        refused = client.patch(of("session", session), {"session_name": name}, format="json")
        assert (refused.status_code, list(refused.json()["details"])) == (400, ["session_name"])
    session.refresh_from_db()
    assert session.name == "Another name"


def test_only_those_who_may_edit_rename(session: JudgeSession, stranger: User) -> None:
    address = of("session", session)
    assert client_of(stranger).patch(address, {"session_name": "Mine"}, format="json").status_code == 404
    reader = share(session)
    assert client_of(reader).patch(address, {"session_name": "Mine"}, format="json").status_code == 403
    editor = share(session, can_edit=True)
    assert client_of(editor).patch(address, {"session_name": "Ours"}, format="json").status_code == 200


def test_a_duplicate_has_the_same_plan_and_a_name_of_its_own(client: APIClient, session: JudgeSession) -> None:
    answer = client.post(of("duplicate", session), format="json", headers={"accept-language": "de"})
    assert answer.status_code == 201
    copy = JudgeSession.objects.get(pk=answer.json()["id"])
    assert answer["Location"] == of("session", copy)
    assert (copy.name, copy.status) == (f"{session.name} (Kopie)", "created")

    def plan(one: JudgeSession) -> list[tuple[int, ...]]:
        return list(JudgePair.objects.filter(session=one).values_list("queue_order", "thread_a", "thread_b"))

    assert plan(copy) == plan(session)


def test_a_duplicate_takes_what_is_to_be_different(client: APIClient, session: JudgeSession) -> None:
    change = {"session_name": "Again", "seed": None, "comparison_mode": "free_for_all", "position_swap": False}
    copy = client.post(of("duplicate", session), change, format="json").json()
    assert (copy["session_name"], copy["comparison_mode"]) == ("Again", "free_for_all")
    assert copy["seed"] != session.seed
    refused = client.post(of("duplicate", session), {"worker_count": 6}, format="json")
    assert (refused.status_code, list(refused.json()["details"])) == (400, ["worker_count"])


def test_a_duplicate_asked_for_by_a_form_keeps_what_the_form_leaves_out(
    client: APIClient, session: JudgeSession
) -> None:
    answer = client.post(of("duplicate", session), {"session_name": "Again", "pillar_ids": [2, 1]}, format="multipart")
    assert answer.status_code == 201
    copy = answer.json()
    assert (copy["session_name"], copy["position_swap"], copy["calculate_elo"]) == ("Again", True, True)


@pytest.mark.parametrize("body", ["null", "[]", "[1]", '"x"', "7", '[["seed", 1]]', "{", '{"seed": 1e400}'])
def test_a_duplicate_with_another_body_than_an_object_is_a_bad_request(
    client: APIClient, session: JudgeSession, body: str
) -> None:
    answer = client.post(of("duplicate", session), body, content_type="application/json")
    assert answer.status_code == 400
    assert JudgeSession.objects.count() == 1


def test_a_reader_may_duplicate_and_own_the_copy_but_a_stranger_sees_nothing(
    session: JudgeSession, stranger: User
) -> None:
    assert client_of(stranger).post(of("duplicate", session), format="json").status_code == 404
    reader = share(session)
    copy = client_of(reader).post(of("duplicate", session), format="json")
    assert (copy.status_code, copy.json()["owner"]) == (201, reader.username)


def test_a_judge_that_only_the_owner_has_cannot_be_duplicated_by_others(owner: User) -> None:
    private = JudgeModelFactory(provider=LLMProviderFactory(owner=owner))
    session = SessionFactory(owner=owner, model=private)
    refused = client_of(share(session)).post(of("duplicate", session), format="json")
    assert (refused.status_code, list(refused.json()["details"])) == (400, ["judge_model_ids"])


def test_a_large_plan_is_written_after_the_answer_and_must_be_confirmed(
    client: APIClient, model: JudgeModel, ten_each: None, settings: Any
) -> None:
    settings.JUDGE_CONFIRM_ABOVE = 800
    body = {"session_name": "Example", "pillar_ids": [1, 3, 5], "comparison_mode": "free_for_all"}
    refused = client.post(SESSIONS, body, format="json")
    assert (refused.status_code, list(refused.json()["details"])) == (400, ["confirm_large_plan"])
    estimate = client.post(ESTIMATE, body, format="json").json()
    assert "large_plan" in {warning["code"] for warning in estimate["warnings"]}
    assert client.post(SESSIONS, body | {"confirm_large_plan": True}, format="json").status_code == 201


def test_all_modes_and_strategies_can_be_chosen(client: APIClient, model: JudgeModel, ten_each: None) -> None:
    offered = client.get(reverse("judge-api:comparison-modes")).json()
    body = {"pillar_ids": [1, 3], "comparison_budget": 20}
    for key, field in (("modes", "comparison_mode"), ("strategies", "sampling_strategy")):
        assert len(offered[key]) == 4
        for choice in offered[key]:
            assert choice["available"]
            assert client.post(ESTIMATE, body | {field: choice["id"]}, format="json").status_code == 200
