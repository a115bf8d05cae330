"""Providers that the program sets up by itself are the system's, whatever people call theirs."""

import pytest

from judge.models import LLMProvider
from judge.services.providers import ENVIRONMENT_NAME, environment_model, simulated_model
from tests.factories import KEY, LLMProviderFactory, UserFactory

pytestmark = pytest.mark.django_db
OPERATORS_KEY = "operators-example-key"


def test_the_operators_key_is_not_put_into_a_researchers_provider_of_the_same_name() -> None:
    own: LLMProvider = LLMProviderFactory(owner=UserFactory(), name=ENVIRONMENT_NAME)
    model = environment_model("http://127.0.0.1:10/v1", OPERATORS_KEY, "example-model")
    own.refresh_from_db()
    assert (own.base_url, own.api_key) == ("http://127.0.0.1:9/v1", KEY)
    assert (model.provider.owner, model.provider.api_key) == (None, OPERATORS_KEY)


def test_a_second_start_finds_the_systems_provider_again() -> None:
    first = simulated_model("http://127.0.0.1:10/v1")
    LLMProviderFactory(owner=UserFactory(), name=first.provider.name)
    second = simulated_model("http://127.0.0.1:11/v1")
    assert second == first
    assert second.provider.base_url == "http://127.0.0.1:11/v1"
