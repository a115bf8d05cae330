"""The admin of providers: their present state, the last test, and the same rules as on the pages."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.formats import date_format

from judge.domain.findings import ProviderFindings
from judge.models import JudgeModel, LLMProvider, ProviderState
from judge.services import provider_check
from tests.factories import (
    KEY,
    JudgeModelFactory,
    LLMProviderFactory,
    SessionFactory,
    StaffFactory,
    UserFactory,
    running,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(StaffFactory())
    return client


@pytest.fixture
def provider(db: None) -> LLMProvider:
    made: LLMProvider = LLMProviderFactory(name="Example provider", may_receive_personal_data=True)
    return made


def change(provider: LLMProvider) -> str:
    return reverse("admin:judge_llmprovider_change", args=[provider.pk])


def form(provider: LLMProvider, **changes: object) -> dict[str, object]:
    return {
        "name": provider.name,
        "base_url": provider.base_url,
        "api_key": "",
        "owner": provider.owner_id or "",
        "max_concurrency": 5,
        "models-TOTAL_FORMS": 0,
        "models-INITIAL_FORMS": 0,
        **changes,
    }


def page_of(staff: Client, provider: LLMProvider) -> str:
    return staff.get(change(provider), headers={"accept-language": "en"}).content.decode()


def test_the_form_shows_calls_rest_and_breaker(staff: Client, provider: LLMProvider) -> None:
    session = SessionFactory(model=JudgeModelFactory(provider=provider), status="running")
    running(session.comparisons.first())
    page = page_of(staff, provider)
    assert "1 of 5" in page
    assert "closed" in page
    until = timezone.now() + timedelta(hours=2)
    ProviderState.objects.create(
        provider=provider,
        concurrency=2,
        blocked_until=until,
        blocked_reason="rate_limited",
        breaker_reason="connection_failed",
        breaker_opened_at=timezone.now(),
    )
    page = page_of(staff, provider)
    assert "1 of 2; at most 5, reduced for now" in page
    assert "The provider asked to slow down." in page
    with translation.override("en"):
        assert f"until {date_format(timezone.localtime(until), 'SHORT_DATETIME_FORMAT')}." in page
    assert "could not be reached. It is tried every 30 seconds." in page


def test_the_last_test_stands_on_the_form_with_its_button(staff: Client, provider: LLMProvider) -> None:
    page = page_of(staff, provider)
    assert "Not tested yet." in page
    assert f'hx-post="/judge/providers/{provider.pk}/test/" hx-params="none"' in page
    check = provider_check.request_check(provider.pk)
    provider_check._store(check, ProviderFindings(connection="ok", key="accepted"))
    page = page_of(staff, provider)
    assert "The key was accepted." in page
    assert KEY not in page


def test_a_persons_own_provider_has_no_button_since_the_key_is_theirs(staff: Client) -> None:
    page = page_of(staff, LLMProviderFactory(owner=UserFactory()))
    assert 'id="test-provider"' not in page
    assert "Only its owner can test this provider" in page


def test_a_name_that_is_taken_is_told_at_the_field(staff: Client, provider: LLMProvider) -> None:
    other = LLMProviderFactory()
    answer = staff.post(change(other), form(other, name=provider.name))
    assert answer.status_code == 200
    assert list(answer.context["adminform"].errors) == ["name"]
    person = UserFactory()
    assert staff.post(change(other), form(other, name=provider.name, owner=person.pk)).status_code == 302


def test_staff_see_address_and_approval_side_by_side_so_the_approval_stays_as_ticked(
    staff: Client, provider: LLMProvider
) -> None:
    model = JudgeModelFactory(provider=provider, detected_output="text")
    moved = form(provider, base_url="http://127.0.0.1:10/v1", api_key="new-example-key")
    staff.post(change(provider), moved | {"may_receive_personal_data": "on"})
    provider.refresh_from_db()
    model.refresh_from_db()
    assert (provider.base_url, provider.may_receive_personal_data) == ("http://127.0.0.1:10/v1", True)
    assert model.detected_output == ""
    staff.post(change(provider), form(provider))
    provider.refresh_from_db()
    assert not provider.may_receive_personal_data


def test_staff_can_say_that_a_server_omits_the_finish_reason(staff: Client, provider: LLMProvider) -> None:
    staff.post(change(provider), form(provider, may_omit_finish_reason="on"))
    provider.refresh_from_db()
    assert provider.may_omit_finish_reason


def test_what_was_found_stands_beside_the_override(staff: Client) -> None:
    model: JudgeModel = JudgeModelFactory(
        structured_output="text", detected_output="json_object", refused_parameters=["max_tokens"]
    )
    place = reverse("admin:judge_judgemodel_change", args=[model.pk])
    page = staff.get(place, headers={"accept-language": "en"}).content.decode()
    assert "JSON object, schema in the prompt" in page
    assert "max_tokens" in page
    values = {"provider": model.provider_id, "structured_output": "auto", "parameters": "{}", "is_active": "on"}
    staff.post(place, {**values, "model_name": "another-model"})
    model.refresh_from_db()
    assert (model.model_name, model.detected_output, model.refused_parameters) == ("another-model", "", [])


def test_a_parameter_that_is_ours_is_refused(staff: Client) -> None:
    model = JudgeModelFactory()
    values = {"provider": model.provider_id, "model_name": model.model_name, "structured_output": "auto"}
    place = reverse("admin:judge_judgemodel_change", args=[model.pk])
    answer = staff.post(place, {**values, "parameters": '{"stream": false}'})
    assert list(answer.context["adminform"].errors) == ["parameters"]
