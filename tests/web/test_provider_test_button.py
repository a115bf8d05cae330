"""The button "test this provider" on the page: begun, watched, read."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from judge.domain.findings import ProviderFindings, Trial
from judge.models import JudgeModel, LLMProvider, ProviderCheck
from judge.services import provider_check, wakeups
from tests.factories import KEY, JudgeModelFactory, LLMProviderFactory
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
HOSTILE = '<img src=x onerror=alert(1)>"'
GOOD = ProviderFindings(
    connection="ok",
    key="accepted",
    models_listed=True,
    models=("example-model", HOSTILE),
    models_total=2,
    model_name="example-model",
    model_found="listed",
    streaming="streams",
    usage="reported",
    finish_reason="reported",
    output_mode="json_object",
    trials=(Trial("json_schema", "not_obeyed", 900), Trial("json_object", "obeyed", 800)),
    reasoning="none",
    median_latency_ms=850,
    calls=3,
    duration_ms=4000,
)

Sent = list[tuple[str, tuple[int, ...]]]


@pytest.fixture
def model(owner: User) -> JudgeModel:
    """A model at a provider of the owner's own."""
    made: JudgeModel = JudgeModelFactory(provider=LLMProviderFactory(owner=owner), model_name="example-model")
    return made


@pytest.fixture
def address(model: JudgeModel) -> str:
    return f"/judge/providers/{model.provider_id}/"


def done(check: ProviderCheck, findings: ProviderFindings = GOOD) -> None:
    """What a worker does in the end."""
    provider_check._store(check, findings)


def test_the_button_begins_a_test_that_the_page_then_asks_after(
    reader: Client, owner: User, address: str, sent_wakeups: Sent, django_capture_on_commit_callbacks: object
) -> None:
    assert "Not tested yet." in reader.get(address).content.decode()
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        part = reader.post(f"{address}test/", headers=HTMX).content.decode()
    check = ProviderCheck.objects.get()
    assert sent_wakeups == [(wakeups.CHECK_PROVIDER, (check.pk,))]
    assert (check.state, check.requested_by) == ("running", owner)
    assert part.startswith('<div id="provider-check"')
    poll = f'hx-get="{address}test/{check.pk}/"'
    assert poll in part
    assert poll in reader.get(address).content.decode()
    # Asking again, the page gets the seconds alone, which no screen reader reads out.
    seconds = reader.get(f"{address}test/{check.pk}/", headers=HTMX)
    assert 'aria-hidden="true"' in seconds.content.decode()
    assert "Being tested" not in seconds.content.decode()
    assert "HX-Retarget" not in seconds


def test_without_scripts_the_button_leads_back_to_the_page(reader: Client, address: str) -> None:
    answer = reader.post(f"{address}test/")
    assert (answer.status_code, answer["Location"]) == (302, address)


def test_a_finished_test_replaces_the_waiting_and_tells_each_model_what_was_found(
    reader: Client, address: str, model: JudgeModel
) -> None:
    check = provider_check.request_check(model.provider_id, "example-model")
    done(check)
    there = {**HTMX, "HX-Current-URL": f"http://testserver{address}"}
    answer = reader.get(f"{address}test/{check.pk}/", headers=there)
    part = answer.content.decode()
    assert (answer["HX-Retarget"], answer["HX-Reswap"]) == ("#provider-check", "outerHTML")
    assert "The key was accepted." in part
    assert f'id="model-{model.pk}-found" hx-swap-oob="true">JSON object' in part
    assert "hx-trigger" not in part
    elsewhere = {**HTMX, "HX-Current-URL": "http://testserver/admin/"}
    assert "hx-swap-oob" not in reader.get(f"{address}test/{check.pk}/", headers=elsewhere).content.decode()
    page = reader.get(address).content.decode()
    assert "The key was accepted." in page
    assert HOSTILE not in page
    assert "<img" not in page
    assert KEY not in page + part


def test_a_model_is_tested_by_its_own_button(reader: Client, address: str, model: JudgeModel) -> None:
    reader.post(f"{address}test/", {"model_name": model.model_name}, headers=HTMX)
    check = ProviderCheck.objects.get()
    assert (check.model, check.model_name) == (model, "example-model")
    assert "example-model is being tested" in reader.get(address).content.decode()


def test_an_override_by_hand_stays_and_shows_beside_what_was_found(
    reader: Client, address: str, model: JudgeModel
) -> None:
    JudgeModel.objects.filter(pk=model.pk).update(structured_output="text")
    done(provider_check.request_check(model.provider_id))
    page = reader.get(address).content.decode()
    assert "set by hand; the test found: JSON object" in page


def test_advice_that_was_followed_is_not_repeated(reader: Client, address: str, model: JudgeModel) -> None:
    silent = replace(GOOD, finish_reason="missing", suggests_may_omit_finish_reason=True)
    done(provider_check.request_check(model.provider_id), silent)
    assert "1 thing needs your attention." in reader.get(address).content.decode()
    LLMProvider.objects.update(may_omit_finish_reason=True)
    assert "Everything a session needs was found." in reader.get(address).content.decode()


def test_a_test_that_nobody_takes_ends_with_a_reason(reader: Client, address: str, model: JudgeModel) -> None:
    check = provider_check.request_check(model.provider_id)
    ProviderCheck.objects.filter(pk=check.pk).update(requested_at=timezone.now() - timedelta(minutes=1))
    page = reader.get(address).content.decode()
    assert "no worker answered within 20 seconds" in page
    assert "hx-trigger" not in page


def test_a_message_that_cannot_be_sent_is_said_at_once(
    reader: Client, address: str, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: False)
    # Callbacks run when the request's transaction would have been committed, so before the page asks again.
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        reader.post(f"{address}test/")
    assert "Redis cannot be reached" in reader.get(address).content.decode()


def test_a_stranger_can_neither_test_nor_read(address: str, model: JudgeModel, stranger: User) -> None:
    check = provider_check.request_check(model.provider_id)
    other = browser_of(stranger)
    unknown = f"/judge/providers/{model.provider_id + 1000}/"
    for rest in ("", "change/", f"test/{check.pk}/"):
        assert other.get(address + rest).status_code == other.get(unknown + rest).status_code == 404
    for rest in ("test/", "delete/", "change/", "models/new/", f"models/{model.pk}/delete/"):
        assert other.post(address + rest).status_code == other.post(unknown + rest).status_code == 404
    assert ProviderCheck.objects.count() == 1


def test_a_test_is_found_under_its_own_provider_only(reader: Client, owner: User, model: JudgeModel) -> None:
    check = provider_check.request_check(model.provider_id)
    other = LLMProviderFactory(owner=owner)
    assert reader.get(f"/judge/providers/{other.pk}/test/{check.pk}/").status_code == 404
    assert reader.get(f"/judge/providers/{other.pk}/models/{model.pk}/change/").status_code == 404


def test_the_systems_providers_are_tested_by_staff(reader: Client, staff: User) -> None:
    system: LLMProvider = JudgeModelFactory().provider
    place = f"/judge/providers/{system.pk}/test/"
    assert reader.post(place, headers=HTMX).status_code == 403
    assert browser_of(staff).post(place, headers=HTMX).status_code == 200
    assert ProviderCheck.objects.get().requested_by == staff
