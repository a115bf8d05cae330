"""A judge model that judged stays that model; what is sent to it is a JSON object."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judge.models import JudgeModel
from tests.factories import JudgeModelFactory, LLMProviderFactory, SessionFactory, StaffFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(StaffFactory())
    return client


@pytest.fixture
def used(db: None) -> JudgeModel:
    model: JudgeModel = JudgeModelFactory(model_name="example-used")
    SessionFactory(model=model)
    return model


def post(staff: Client, model: JudgeModel, **changes: object) -> Any:
    form = {
        "provider": model.provider_id,
        "model_name": model.model_name,
        "structured_output": model.structured_output,
        "parameters": "{}",
        "is_active": "on",
        **changes,
    }
    return staff.post(reverse("admin:judge_judgemodel_change", args=[model.pk]), form)


def test_name_and_provider_of_a_used_model_cannot_be_changed(staff: Client, used: JudgeModel) -> None:
    provider = used.provider_id
    post(staff, used, model_name="another-model", provider=LLMProviderFactory().pk, structured_output="text")
    used.refresh_from_db()
    assert (used.model_name, used.provider_id) == ("example-used", provider)
    assert used.structured_output == "text"


def test_the_name_of_a_used_model_cannot_be_changed_beside_its_provider(staff: Client, used: JudgeModel) -> None:
    form = {
        "name": used.provider.name,
        "base_url": used.provider.base_url,
        "api_key": "",
        "owner": "",
        "max_concurrency": 5,
        "models-TOTAL_FORMS": 1,
        "models-INITIAL_FORMS": 1,
        "models-0-id": used.pk,
        "models-0-provider": used.provider_id,
        "models-0-model_name": "another-model",
        "models-0-structured_output": "text",
    }
    answer = staff.post(reverse("admin:judge_llmprovider_change", args=[used.provider_id]), form)
    assert answer.status_code == 302
    used.refresh_from_db()
    assert (used.model_name, used.structured_output) == ("example-used", "text")


def test_a_model_that_no_session_used_can_be_renamed(staff: Client) -> None:
    model = JudgeModelFactory()
    post(staff, model, model_name="another-model")
    model.refresh_from_db()
    assert model.model_name == "another-model"


@pytest.mark.parametrize(
    "parameters",
    [
        "[1]",
        '"text"',
        "3",
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\u0000"}',
        '{"a": "\\ud800"}',
        "[" * 100_000,
        "9" * 5000,
    ],
    ids=["list", "text", "number", "nan", "infinite", "nul", "surrogate", "nested", "digits"],
)
def test_parameters_that_are_no_storable_object_are_refused_on_the_form(staff: Client, parameters: str) -> None:
    model = JudgeModelFactory(parameters={"temperature": 0})
    answer = post(staff, model, parameters=parameters)
    assert answer.status_code == 200
    assert answer.context["adminform"].errors["parameters"]
    model.refresh_from_db()
    assert model.parameters == {"temperature": 0}


@pytest.mark.parametrize(("typed", "stored"), [("", {}), ("null", None), ('{"top_p": 0.5}', {"top_p": 0.5})])
def test_empty_parameters_are_an_empty_object(staff: Client, typed: str, stored: Any) -> None:
    model = JudgeModelFactory(parameters={"temperature": 0})
    answer = post(staff, model, parameters=typed)
    model.refresh_from_db()
    if stored is None:
        assert answer.status_code == 200
        assert model.parameters == {"temperature": 0}
    else:
        assert model.parameters == stored
