"""A person's own providers: set up, changed, deleted, and nobody else's business."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judge.models import JudgeModel, JudgeSession, LLMProvider
from judge.services.briefs import forget_briefs
from tests.factories import KEY, JudgeModelFactory, LLMProviderFactory, SessionFactory, UserFactory
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db
ADDRESS = "http://127.0.0.1:9/v1"
PUBLIC = "https://models.example.org/v1"
TYPED = "typed-example-key"


@pytest.fixture
def own(owner: User) -> LLMProvider:
    """The owner's provider, with a key, approved for personal data."""
    provider: LLMProvider = LLMProviderFactory(
        owner=owner, name="Example of my own", base_url=PUBLIC, is_simulated=False, may_receive_personal_data=True
    )
    return provider


@pytest.fixture(autouse=True)
def no_names_are_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Example names resolve to nothing; asking the network about them would only take time."""

    def unknown(*_args: object) -> list[Any]:
        raise OSError

    monkeypatch.setattr("judge.llm.addresses.resolve_host", unknown)


def settings_form(provider: LLMProvider | None = None, **changes: object) -> dict[str, object]:
    return {
        "name": provider.name if provider else "Example",
        "base_url": provider.base_url if provider else ADDRESS,
        "api_key": "",
        "max_concurrency": 5,
        "requests_per_minute": "",
        "tokens_per_minute": "",
        **changes,
    }


def model_form(**changes: object) -> dict[str, object]:
    return {
        "model_name": "example-model",
        "context_window": "",
        "input_price": "",
        "output_price": "",
        "structured_output": "auto",
        "parameters": "{}",
        "is_active": "on",
        **changes,
    }


def page_of(provider: LLMProvider, rest: str = "") -> str:
    return f"/judge/providers/{provider.pk}/{rest}"


def test_a_provider_is_set_up_with_its_key_and_without_an_approval(reader: Client, owner: User) -> None:
    answer = reader.post("/judge/providers/new/", settings_form(api_key=TYPED, requests_per_minute=60))
    made = LLMProvider.objects.get()
    assert answer["Location"] == page_of(made)
    assert (made.owner, made.base_url, made.api_key, made.requests_per_minute) == (owner, ADDRESS, TYPED, 60)
    assert TYPED not in made.api_key_encrypted


@pytest.mark.parametrize("field", ["owner", "may_receive_personal_data", "is_simulated"])
def test_what_staff_decide_is_not_decided_by_a_form_field(
    field: str, reader: Client, own: LLMProvider, stranger: User
) -> None:
    LLMProvider.objects.filter(pk=own.pk).update(may_receive_personal_data=False)
    forged = stranger.pk if field == "owner" else "on"
    reader.post("/judge/providers/new/", settings_form(**{field: forged}))
    reader.post(page_of(own, "change/"), settings_form(own, name="Another name", **{field: forged}))
    assert LLMProvider.objects.count() == 2
    for provider in LLMProvider.objects.all():
        assert provider.owner_id == own.owner_id
        assert not provider.may_receive_personal_data
        assert not provider.is_simulated


def test_a_key_is_on_no_page_also_after_a_mistake(reader: Client, own: LLMProvider) -> None:
    pages = [reader.get(page).content.decode() for page in ("/judge/providers/", page_of(own), page_of(own, "change/"))]
    refused = reader.post(page_of(own, "change/"), settings_form(own, api_key=TYPED, max_concurrency=0))
    assert refused.status_code == 422
    for page in [*pages, refused.content.decode()]:
        assert KEY not in page
        assert TYPED not in page
        assert own.api_key_encrypted not in page


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"api_key": TYPED}, TYPED),
        ({"forget_key": "on"}, ""),
        ({}, None),
        ({"api_key": TYPED, "forget_key": "on"}, None),
    ],
)
def test_a_new_address_never_gets_the_old_key(
    changes: dict[str, object], key: str | None, reader: Client, own: LLMProvider
) -> None:
    answer = reader.post(page_of(own, "change/"), settings_form(own, base_url=ADDRESS, **changes))
    own.refresh_from_db()
    if key is None:
        assert answer.status_code == 422
        assert (own.base_url, own.api_key) == (PUBLIC, KEY)
    else:
        assert (own.base_url, own.api_key) == (ADDRESS, key)


def test_a_new_address_loses_the_approval_and_what_tests_found(reader: Client, own: LLMProvider) -> None:
    model = JudgeModelFactory(provider=own, detected_output="text", refused_parameters=["max_tokens"])
    moved = settings_form(own, base_url="https://other.example.org/v1", api_key=TYPED)
    page = reader.post(page_of(own, "change/"), moved, follow=True).content.decode()
    own.refresh_from_db()
    model.refresh_from_db()
    assert not own.may_receive_personal_data
    assert "Please ask staff for a new one." in page
    assert (model.detected_output, model.refused_parameters) == ("", [])


@pytest.mark.parametrize("changes", [{"name": "Another name"}, {"base_url": f"{PUBLIC}/"}, {"api_key": TYPED}])
def test_everything_else_keeps_the_approval(changes: dict[str, object], reader: Client, own: LLMProvider) -> None:
    model = JudgeModelFactory(provider=own, detected_output="text")
    assert reader.post(page_of(own, "change/"), settings_form(own, **changes)).status_code == 302
    own.refresh_from_db()
    model.refresh_from_db()
    assert (own.may_receive_personal_data, own.base_url, model.detected_output) == (True, PUBLIC, "text")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Example of my own"}, "There is a provider of this name already."),
        ({"name": " "}, "This field is required."),
        ({"base_url": "http://169.254.169.254/v1"}, "leads into a local or private network"),
        ({"base_url": "http://2130706433/v1"}, "Write the IP address in its usual form."),
        ({"base_url": "https://user:pass@example.org/v1"}, "must not contain a user name"),
        ({"base_url": "http://models.example.org/v1"}, "Use https://."),
        ({"max_concurrency": 0}, "greater than or equal to 1"),
        ({"api_key": "schlüssel"}, "This is no key"),
    ],
)
def test_a_mistake_is_told_at_its_field_and_nothing_is_written(
    changes: dict[str, object], message: str, reader: Client, own: LLMProvider
) -> None:
    answer = reader.post("/judge/providers/new/", settings_form(**changes))
    assert answer.status_code == 422
    assert message in answer.content.decode()
    (field,) = changes
    assert answer.context["form"].errors[field]
    assert LLMProvider.objects.get() == own


def test_the_name_of_somebody_elses_provider_is_free(reader: Client, stranger: User) -> None:
    LLMProviderFactory(owner=stranger, name="Example")
    LLMProviderFactory(name="Example")
    assert reader.post("/judge/providers/new/", settings_form()).status_code == 302


def test_a_provider_is_deleted_with_its_models(reader: Client, own: LLMProvider) -> None:
    JudgeModelFactory(provider=own)
    page = reader.post(page_of(own, "delete/"), follow=True).content.decode()
    assert "was deleted" in page
    assert not LLMProvider.objects.exists()
    assert not JudgeModel.objects.exists()


def test_a_provider_that_judges_is_not_deleted_and_says_why(reader: Client, owner: User, own: LLMProvider) -> None:
    unused = JudgeModelFactory(provider=own)
    used = SessionFactory(owner=owner, model=JudgeModelFactory(provider=own)).session_judges.get().model
    for place in (page_of(own, "delete/"), page_of(own, f"models/{used.pk}/delete/")):
        page = reader.post(place, follow=True).content.decode()
        assert "cannot be deleted" in page
    assert set(JudgeModel.objects.all()) == {used, unused}


def test_models_are_added_changed_and_withdrawn(reader: Client, own: LLMProvider) -> None:
    added = model_form(input_price="0.5", context_window=32000, parameters='{"temperature": 0}')
    reader.post(page_of(own, "models/new/"), added)
    model = own.models.get()
    assert (model.context_window, str(model.input_price), model.parameters) == (32000, "0.5000", {"temperature": 0})
    changed = model_form(structured_output="text", parameters="", is_active="")
    reader.post(page_of(own, f"models/{model.pk}/change/"), changed)
    model.refresh_from_db()
    assert (model.structured_output, model.parameters, model.is_active) == ("text", {}, False)
    assert "withdrawn" in reader.get(page_of(own)).content.decode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": "[1]"}, "object"),
        ({"parameters": '{"stream": false}'}, "is set by LLARS Judge itself"),
        ({"parameters": '{"a": NaN}'}, ""),
        ({"model_name": "taken"}, "has a model of this name already"),
        ({"input_price": "-1"}, "A price is not negative."),
        ({"structured_output": "magic"}, "Select a valid choice."),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused_at_its_field(
    changes: dict[str, object], message: str, reader: Client, own: LLMProvider
) -> None:
    JudgeModelFactory(provider=own, model_name="taken")
    answer = reader.post(page_of(own, "models/new/"), model_form(**changes))
    assert answer.status_code == 422
    (field,) = changes
    assert message in " ".join(answer.context["form"].errors[field])
    assert own.models.count() == 1


def test_a_renamed_model_is_another_model(reader: Client, own: LLMProvider) -> None:
    model = JudgeModelFactory(provider=own, detected_output="text", streams_reasoning=True)
    reader.post(page_of(own, f"models/{model.pk}/change/"), model_form(model_name="another-model"))
    model.refresh_from_db()
    assert (model.model_name, model.detected_output, model.streams_reasoning) == ("another-model", "", None)


def test_a_model_that_judges_keeps_its_name(reader: Client, owner: User, own: LLMProvider) -> None:
    model = JudgeModelFactory(provider=own, model_name="example-used")
    SessionFactory(owner=owner, model=model)
    reader.post(page_of(own, f"models/{model.pk}/change/"), model_form(model_name="another", is_active=""))
    model.refresh_from_db()
    assert (model.model_name, model.is_active) == ("example-used", False)


def test_somebody_elses_provider_is_on_no_page(reader: Client, stranger: User) -> None:
    JudgeModelFactory(provider=LLMProviderFactory(owner=stranger, name="Foreign provider"), model_name="foreign-model")
    for page in ("/judge/providers/", "/judge/config/"):
        text = reader.get(page).content.decode()
        assert "Foreign provider" not in text
        assert "foreign-model" not in text


def test_of_the_systems_providers_the_offered_ones_show_without_address_and_key(reader: Client) -> None:
    JudgeModelFactory(provider=LLMProviderFactory(name="Offered provider"), model_name="offered-model")
    JudgeModelFactory(provider=LLMProviderFactory(name="Withdrawn provider"), is_active=False)
    page = reader.get("/judge/providers/").content.decode()
    assert "Offered provider" in page
    assert "offered-model" in page
    assert "Withdrawn provider" not in page
    assert "127.0.0.1" not in page
    assert "/admin/" not in page


def test_who_may_plan_no_sessions_has_no_providers() -> None:
    nobody = browser_of(UserFactory(groups=()))
    assert nobody.get("/judge/providers/").status_code == 403
    assert nobody.post("/judge/providers/new/", settings_form()).status_code == 403
    assert not LLMProvider.objects.exists()


def chosen(judge: JudgeModel) -> dict[str, object]:
    return {
        "session_name": "Example plan",
        "pillar_ids": [1, 2],
        "comparison_mode": "pillar_sample",
        "sampling_strategy": "rotating",
        "samples_per_pillar": 3,
        "repetitions_per_pair": 1,
        "worker_count": 1,
        "judge_model_ids": [judge.pk],
        "language": "de",
        "rubric_id": 1,
    }


def test_somebody_elses_model_cannot_be_chosen_as_a_judge(
    reader: Client, stranger: User, session: JudgeSession
) -> None:
    foreign = JudgeModelFactory(provider=LLMProviderFactory(owner=stranger))
    answer = reader.post("/judge/config/", chosen(foreign))
    assert answer.status_code == 400
    assert "Select a valid choice." in answer.content.decode()
    assert JudgeSession.objects.get() == session


def test_an_own_model_that_is_not_approved_is_refused_with_the_reason(
    reader: Client, own: LLMProvider, session: JudgeSession
) -> None:
    LLMProvider.objects.filter(pk=own.pk).update(may_receive_personal_data=False)
    answer = reader.post("/judge/config/", chosen(JudgeModelFactory(provider=own)))
    assert answer.status_code == 400
    assert "not approved for personal data. Staff can approve it." in answer.content.decode()
    assert JudgeSession.objects.get() == session


def test_an_own_model_on_this_machine_or_approved_can_be_chosen(
    reader: Client, owner: User, own: LLMProvider, session: JudgeSession
) -> None:
    approved = JudgeModelFactory(provider=own)
    local = JudgeModelFactory(provider=LLMProviderFactory(owner=owner, is_simulated=False))
    for model in (approved, local):
        assert reader.post("/judge/config/", chosen(model)).status_code == 302
    forget_briefs()
    assert JudgeSession.objects.count() == 3
