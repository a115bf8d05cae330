"""Providers over the API: keys go in and never out, foreign ones do not exist, a test is begun and read."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from judge.domain.findings import ProviderFindings
from judge.models import JudgeModel, LLMProvider, ProviderCheck
from judge.services import provider_check
from judge.services.errors import ActionRefused
from judge.services.provider_settings import change_provider
from tests.api.conftest import CountQueries, client_of
from tests.factories import KEY, JudgeModelFactory, LLMProviderFactory, SessionFactory

pytestmark = pytest.mark.django_db
LIST = "/api/judge/providers/"
ADDRESS = "http://127.0.0.1:9/v1"
TYPED = "typed-example-key"


@pytest.fixture
def own(owner: User) -> LLMProvider:
    """A provider of the owner's own, with a key and an approval."""
    made: LLMProvider = LLMProviderFactory(owner=owner, name="Example of my own", may_receive_personal_data=True)
    return made


def place(provider: LLMProvider, rest: str = "") -> str:
    return f"{LIST}{provider.pk}/{rest}"


def test_a_provider_is_set_up_and_its_key_never_comes_back(client: APIClient, owner: User) -> None:
    answer = client.post(LIST, {"name": "Example", "base_url": f"{ADDRESS}/", "api_key": TYPED}, format="json")
    made = LLMProvider.objects.get()
    assert (answer.status_code, answer["Location"]) == (201, place(made))
    assert (made.owner, made.api_key, made.base_url) == (owner, TYPED, ADDRESS)
    shown = answer.json()
    assert (shown["is_own"], shown["has_key"], shown["base_url"]) == (True, True, ADDRESS)
    assert (shown["max_concurrency"], shown["may_receive_threads"], shown["models"]) == (5, True, [])
    for text in (answer.content.decode(), client.get(LIST).content.decode(), client.get(place(made)).content.decode()):
        assert "api_key" not in text
        assert TYPED not in text
        assert made.api_key_encrypted not in text


def test_what_staff_decide_is_not_taken_from_a_body(client: APIClient, own: LLMProvider, stranger: User) -> None:
    LLMProvider.objects.filter(pk=own.pk).update(may_receive_personal_data=False, is_simulated=False)
    forged = {"owner": stranger.pk, "may_receive_personal_data": True, "is_simulated": True}
    client.post(LIST, {"name": "Example", "base_url": ADDRESS, **forged}, format="json")
    assert client.patch(place(own), {"name": "Another name", **forged}, format="json").status_code == 200
    assert LLMProvider.objects.count() == 2
    for provider in LLMProvider.objects.all():
        assert (provider.owner, provider.may_receive_personal_data) == (own.owner, False)
        assert not provider.is_simulated


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "Example of my own"}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"base_url": "http://169.254.169.254/v1"}, "base_url"),
        ({"base_url": "https://user:pass@example.org/v1"}, "base_url"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"tokens_per_minute": 2**40}, "tokens_per_minute"),
        ({"api_key": "two\nlines"}, "api_key"),
        ({"api_key": "x" * 5000}, "api_key"),
    ],
)
def test_a_mistake_is_told_by_field_in_the_one_shape(
    body: dict[str, Any], field: str, client: APIClient, own: LLMProvider
) -> None:
    answer = client.post(LIST, {"name": "Example", "base_url": ADDRESS, **body}, format="json")
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "error_type", "details"}
    assert list(answer.json()["details"]) == [field]
    assert LLMProvider.objects.get() == own


def test_a_new_address_needs_the_key_again_and_loses_the_approval(client: APIClient, own: LLMProvider) -> None:
    moved = {"base_url": "http://127.0.0.1:10/v1"}
    refused = client.patch(place(own), moved, format="json")
    assert (refused.status_code, list(refused.json()["details"])) == (400, ["api_key"])
    own.refresh_from_db()
    assert (own.base_url, own.api_key, own.may_receive_personal_data) == (ADDRESS, KEY, True)
    assert client.patch(place(own), {**moved, "api_key": ""}, format="json").json()["has_key"] is False
    own.refresh_from_db()
    assert (own.api_key, own.may_receive_personal_data) == ("", False)


def test_a_change_keeps_what_it_does_not_name(client: APIClient, own: LLMProvider) -> None:
    assert client.patch(place(own), {"requests_per_minute": 60}, format="json").status_code == 200
    own.refresh_from_db()
    assert (own.name, own.api_key, own.requests_per_minute) == ("Example of my own", KEY, 60)


def test_a_key_does_not_go_to_an_address_that_somebody_set_meanwhile(
    own: LLMProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    def moved_meanwhile(self: LLMProvider) -> None:
        LLMProvider.objects.filter(pk=own.pk).update(base_url="http://127.0.0.1:10/v1", api_key_encrypted="")

    monkeypatch.setattr(LLMProvider, "clean", moved_meanwhile)
    with pytest.raises(ActionRefused) as refused:
        change_provider(own.pk, {}, TYPED)
    assert refused.value.code == "changed_meanwhile"
    own.refresh_from_db()
    assert own.api_key == ""


def test_models_are_added_changed_and_deleted(client: APIClient, own: LLMProvider) -> None:
    body = {"model_name": "example-model", "input_price": "0.5", "parameters": {"temperature": 0}}
    added = client.post(place(own, "models/"), body, format="json")
    assert added.status_code == 201
    shown = added.json()
    assert (shown["structured_output"], shown["output_mode"], shown["is_used"]) == ("auto", "json_schema", False)
    one = place(own, f"models/{shown['id']}/")
    assert added["Location"] == one
    assert client.get(one).json() == shown == client.get(place(own)).json()["models"][0]
    changed = client.patch(one, {"is_active": False, "structured_output": "text"}, format="json").json()
    assert (changed["is_active"], changed["output_mode"], changed["input_price"]) == (False, "text", "0.5000")
    assert client.delete(one).status_code == 204
    assert not own.models.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model_name": "taken"}, "model_name"),
        ({"parameters": [1]}, "parameters"),
        ({"parameters": {"messages": []}}, "parameters"),
        ({"parameters": {"a": "\x00"}}, "parameters"),
        ({"structured_output": "magic"}, "structured_output"),
        ({"output_price": -1}, "output_price"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused(
    body: dict[str, Any], field: str, client: APIClient, own: LLMProvider
) -> None:
    JudgeModelFactory(provider=own, model_name="taken")
    answer = client.post(place(own, "models/"), {"model_name": "example-model", **body}, format="json")
    assert (answer.status_code, list(answer.json()["details"])) == (400, [field])
    assert own.models.count() == 1


def test_what_judges_in_a_session_stays(client: APIClient, owner: User, own: LLMProvider) -> None:
    model = JudgeModelFactory(provider=own)
    SessionFactory(owner=owner, model=model)
    one = place(own, f"models/{model.pk}/")
    assert client.get(one).json()["is_used"] is True
    assert client.delete(place(own)).json()["error_type"] == "provider_in_use"
    refused = client.delete(one)
    assert (refused.status_code, refused.json()["error_type"]) == (409, "model_in_use")
    renamed = client.patch(one, {"model_name": "another"}, format="json")
    assert (renamed.status_code, list(renamed.json()["details"])) == (400, ["model_name"])


def test_the_list_is_paged_own_ones_first_and_needs_as_many_queries_for_few_as_for_many(
    client: APIClient, own: LLMProvider, stranger: User, count_queries: CountQueries
) -> None:
    JudgeModelFactory(provider=LLMProviderFactory(name="A system provider"))
    JudgeModelFactory(provider=LLMProviderFactory(owner=stranger))
    counted = count_queries(client, LIST)
    for _ in range(3):
        JudgeModelFactory(provider=own)
        JudgeModelFactory()
    assert count_queries(client, LIST) == counted
    page = client.get(LIST, {"page_size": 2}).json()
    assert page["count"] == 5
    assert [row["name"] for row in page["results"]] == ["Example of my own", "A system provider"]
    system = page["results"][1]
    assert (system["is_own"], system["base_url"], system["has_key"]) == (False, None, None)


def test_staff_read_the_address_of_the_systems_providers_but_not_other_peoples(own: LLMProvider, staff: User) -> None:
    system: LLMProvider = LLMProviderFactory()
    rows = client_of(staff).get(LIST).json()["results"]
    assert [(row["id"], row["base_url"], row["has_key"]) for row in rows] == [(system.pk, ADDRESS, True)]


def test_a_test_is_begun_and_then_read_in_the_language_of_the_request(client: APIClient, own: LLMProvider) -> None:
    test = place(own, "test/")
    assert client.get(test).json()["state"] == "never"
    begun = client.post(test, {"model_name": "example-model"}, format="json")
    assert begun.status_code == 202
    assert (begun.json()["state"], begun.json()["model_name"]) == ("running", "example-model")
    check = ProviderCheck.objects.get()
    assert client.post(test, {"model_name": "example-model"}, format="json").json()["id"] == check.pk
    findings = ProviderFindings(connection="ok", key="accepted", model_name="example-model", output_mode="text")
    provider_check._store(check, findings)
    english = client.get(test, headers={"accept-language": "en"}).json()
    german = client.get(test, headers={"accept-language": "de"}).json()
    assert english["findings"] == german["findings"] == findings.as_json()
    assert {"code": "key", "level": "good", "text": "The key was accepted."} in english["sentences"]
    assert [row["code"] for row in german["sentences"]] == [row["code"] for row in english["sentences"]]
    assert client.get(test, {"model_name": "another"}).json()["state"] == "never"
    assert client.get(test, {"model_name": "a\x00"}).status_code == 400


def test_a_test_that_failed_says_why(client: APIClient, own: LLMProvider) -> None:
    check = provider_check.request_check(own.pk)
    provider_check._fail(check.pk, "internal_error")
    shown = client.get(place(own, "test/")).json()
    assert (shown["state"], shown["reason"], shown["findings"]) == ("failed", "internal_error", None)
    assert (
        "error within LLARS Judge" in client.get(place(own, "test/"), headers={"accept-language": "en"}).json()["error"]
    )


def test_somebody_elses_model_judges_no_session_of_mine(client: APIClient, stranger: User, model: JudgeModel) -> None:
    foreign = JudgeModelFactory(provider=LLMProviderFactory(owner=stranger))
    body = {"session_name": "Example", "pillar_ids": [1, 2], "judge_model_ids": [foreign.pk]}
    answer = client.post(reverse("judge-api:sessions"), body, format="json")
    assert (answer.status_code, "judge_model_ids" in answer.json()["details"]) == (400, True)
