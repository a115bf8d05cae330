"""The admin of the judge: keys go in and never out, what was used is locked, sessions are run but not edited."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin import site
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from judge.domain.prompt import DEFAULT_PROMPTS
from judge.models import JudgeSession, LLMProvider, PromptVersion, Rubric, SessionShare
from judge.services import wakeups
from tests.factories import (
    KEY,
    JudgeModelFactory,
    LLMProviderFactory,
    SessionFactory,
    StaffFactory,
    UserFactory,
    judged,
    running,
)

pytestmark = pytest.mark.django_db
SENTENCE = "Example question of"


@pytest.fixture(autouse=True)
def sent_wakeups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: None)


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(StaffFactory())
    return client


@pytest.fixture
def provider(db: None) -> LLMProvider:
    return LLMProviderFactory()


def address(model: str, page: str, *args: int) -> str:
    return reverse(f"admin:judge_{model}_{page}", args=args)


def provider_form(provider: LLMProvider | None = None, **changes: object) -> dict[str, object]:
    return {
        "name": provider.name if provider else "Example",
        "base_url": provider.base_url if provider else "http://127.0.0.1:9/v1",
        "api_key": "",
        "owner": "",
        "max_concurrency": 5,
        "models-TOTAL_FORMS": 0,
        "models-INITIAL_FORMS": 0,
        **changes,
    }


def test_a_typed_key_is_stored_encrypted(staff: Client) -> None:
    answer = staff.post(address("llmprovider", "add"), provider_form(api_key="typed-example-key"))
    assert answer.status_code == 302
    stored = LLMProvider.objects.get()
    assert stored.api_key == "typed-example-key"
    assert "typed-example-key" not in stored.api_key_encrypted


def test_a_stored_key_is_on_no_page(staff: Client, provider: LLMProvider) -> None:
    pages = [
        address("llmprovider", "changelist"),
        address("llmprovider", "change", provider.pk),
        address("llmprovider", "history", provider.pk),
        address("llmprovider", "delete", provider.pk),
    ]
    for page in pages:
        text = staff.get(page).content.decode()
        assert KEY not in text
        assert provider.api_key_encrypted not in text
    assert 'type="password"' in staff.get(pages[1]).content.decode()


def test_a_refused_form_does_not_send_the_typed_key_back(staff: Client, provider: LLMProvider) -> None:
    form = provider_form(provider, api_key="typed-example-key", max_concurrency=0)
    answer = staff.post(address("llmprovider", "change", provider.pk), form)
    assert answer.status_code == 200
    assert "typed-example-key" not in answer.content.decode()


def test_an_empty_key_field_keeps_the_key(staff: Client, provider: LLMProvider) -> None:
    staff.post(address("llmprovider", "change", provider.pk), provider_form(provider, name="Another name"))
    provider.refresh_from_db()
    assert (provider.name, provider.api_key) == ("Another name", KEY)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({}, None),
        ({"api_key": "new-example-key"}, "new-example-key"),
        ({"forget_key": "on"}, ""),
        ({"api_key": "new-example-key", "forget_key": "on"}, None),
    ],
)
def test_a_new_address_never_gets_the_old_key(
    staff: Client, provider: LLMProvider, changes: dict[str, object], key: str | None
) -> None:
    moved = provider_form(provider, base_url="http://127.0.0.1:10/v1", **changes)
    answer = staff.post(address("llmprovider", "change", provider.pk), moved)
    provider.refresh_from_db()
    if key is None:
        assert answer.status_code == 200
        assert (provider.base_url, provider.api_key) == ("http://127.0.0.1:9/v1", KEY)
    else:
        assert (provider.base_url, provider.api_key) == ("http://127.0.0.1:10/v1", key)


@pytest.mark.parametrize(
    "base_url", ["http://169.254.169.254/v1", "http://10.0.0.1/v1", "https://user:pass@example.org/v1", "ftp://x/v1"]
)
def test_an_address_that_must_not_be_called_is_refused(staff: Client, base_url: str) -> None:
    answer = staff.post(address("llmprovider", "add"), provider_form(base_url=base_url))
    assert answer.status_code == 200
    assert not LLMProvider.objects.exists()


def test_a_used_rubric_can_only_be_looked_at(staff: Client) -> None:
    rubric = Rubric.objects.get(is_default=True)
    page = address("rubric", "change", rubric.pk)
    assert staff.get(page).context["has_change_permission"] is True
    SessionFactory()
    shown = staff.get(page)
    assert shown.context["has_change_permission"] is False
    assert 'name="criteria-0-key"' not in shown.content.decode()
    assert staff.post(page, {"name": "Changed"}).status_code == 403
    assert staff.post(address("rubric", "delete", rubric.pk), {"post": "yes"}).status_code == 403
    staff.post(
        address("rubric", "changelist"),
        {"action": "delete_selected", "_selected_action": [rubric.pk], "post": "yes"},
    )
    rubric.refresh_from_db()
    assert (rubric.name, rubric.criteria.count()) == ("Standard", 6)


def test_a_used_prompt_is_locked_and_a_new_version_begins_as_the_newest(staff: Client) -> None:
    session = SessionFactory()
    used, unused = session.prompt_version, PromptVersion.objects.get(language="en")
    text = DEFAULT_PROMPTS["de"]
    form = {"language": "de", "version": 1, "text": text + "\n"}
    assert staff.post(address("promptversion", "change", used.pk), form).status_code == 403
    assert staff.get(address("promptversion", "change", unused.pk)).context["has_change_permission"] is True
    initial = staff.get(address("promptversion", "add")).context["adminform"].form.initial
    assert (initial["language"], initial["version"], initial["text"]) == ("de", 2, text)
    assert staff.post(address("promptversion", "add"), form | {"version": 2}).status_code == 302
    assert PromptVersion.objects.filter(language="de").count() == 2


def test_a_prompt_that_cannot_be_rendered_is_refused(staff: Client) -> None:
    answer = staff.post(address("promptversion", "add"), {"language": "de", "version": 2, "text": "Wähle A."})
    assert answer.status_code == 200
    assert PromptVersion.objects.filter(language="de").count() == 1


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [
        ("start", "created", "queued"),
        ("pause", "running", "paused"),
        ("resume", "paused", "queued"),
        ("abort", "running", "aborted"),
        ("start", "running", "running"),
    ],
)
def test_actions_run_the_chosen_sessions(staff: Client, action: str, before: str, after: str) -> None:
    session = SessionFactory(status=before)
    chosen = {"action": action, "_selected_action": [session.pk]}
    answer = staff.post(address("judgesession", "changelist"), chosen, follow=True)
    session.refresh_from_db()
    assert session.status == after
    (message,) = answer.context["messages"]
    assert message.level_tag == ("success" if before != after else "warning")


def unchanged_inlines(page: Any) -> dict[str, object]:
    """What the page's formsets send along when nothing in them was changed."""
    forms = [inline.formset.management_form for inline in page.context["inline_admin_formsets"]]
    return {form.add_prefix(name): form.initial[name] for form in forms for name in form.initial}


def test_a_session_cannot_be_edited_but_shared(staff: Client) -> None:
    session, person = SessionFactory(status="running"), UserFactory()
    page = address("judgesession", "change", session.pk)
    form = {
        "name": "Changed",
        "status": "completed",
        **unchanged_inlines(staff.get(page)),
        "shares-TOTAL_FORMS": 1,
        "shares-0-user": person.pk,
        "shares-0-session": session.pk,
    }
    assert staff.post(page, form).status_code == 302
    before = (session.name, session.status)
    session.refresh_from_db()
    assert (session.name, session.status) == before
    assert SessionShare.objects.get().user == person


@pytest.mark.parametrize("model", ["judgesession", "judgecomparison"])
def test_sessions_and_comparisons_are_neither_added_nor_deleted(staff: Client, model: str) -> None:
    session = SessionFactory()
    pk = session.pk if model == "judgesession" else session.comparisons.first().pk
    assert staff.get(address(model, "add")).status_code == 403
    assert staff.post(address(model, "delete", pk), {"post": "yes"}).status_code == 403
    assert JudgeSession.objects.filter(pk=session.pk).exists()
    assert session.comparisons.filter(pk=pk).exists() or model == "judgesession"


def test_comparisons_are_shown_with_verdict_and_calls_but_not_changed(staff: Client) -> None:
    session = SessionFactory(status="running")
    comparison = judged(session.comparisons.first())
    page = staff.get(address("judgecomparison", "change", comparison.pk))
    text = page.content.decode()
    assert "Example reasoning." in text
    assert "accepted" in text
    assert SENTENCE not in text
    assert page.context["has_change_permission"] is False
    assert staff.post(address("judgecomparison", "change", comparison.pk), {}).status_code == 403


def many(size: int) -> JudgeSession:
    session = SessionFactory(status="running", threads=size, samples_per_pillar=size)
    first, *others = session.comparisons.order_by("queue_position")
    running(first)
    for comparison in others:
        judged(comparison)
    return session


PAGES: dict[str, Callable[[JudgeSession], str]] = {
    "sessions": lambda session: address("judgesession", "changelist"),
    "session": lambda session: address("judgesession", "change", session.pk),
    "comparisons": lambda session: address("judgecomparison", "changelist"),
    "models": lambda session: address("judgemodel", "changelist"),
    "providers": lambda session: address("llmprovider", "changelist"),
}


@pytest.mark.parametrize("page", PAGES)
def test_pages_need_as_many_queries_for_few_rows_as_for_many(staff: Client, page: str) -> None:
    counts = []
    for size in (2, 5):
        session = many(size)
        JudgeModelFactory(provider=session.session_judges.get().model.provider)
        staff.get(PAGES[page](session))
        with CaptureQueriesContext(connection) as queries:
            assert staff.get(PAGES[page](session)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_every_page_of_the_judge_opens(staff: Client) -> None:
    session = many(2)
    for model, admin in site._registry.items():
        if model._meta.app_label == "judge":
            info: Any = model._meta.model_name
            assert staff.get(address(info, "changelist")).status_code == 200
            assert staff.get(address(info, "changelist"), {"q": "example"}).status_code in (200, 302), admin
            row = model._default_manager.first()
            assert staff.get(address(info, "change", row.pk)).status_code == 200
    assert session.pk


def test_the_admin_leads_to_the_pages_of_sessions_and_comparisons(staff: Client) -> None:
    session = SessionFactory()
    comparison = session.comparisons.first()
    page = staff.get(address("judgesession", "change", session.pk)).content.decode()
    assert f'href="/judge/session/{session.pk}/"' in page
    page = staff.get(address("judgecomparison", "change", comparison.pk)).content.decode()
    assert f'href="/judge/session/{session.pk}/comparisons/{comparison.pk}/"' in page


def test_the_admin_speaks_german_and_bears_the_name_of_the_product(staff: Client) -> None:
    session = SessionFactory()
    comparison = session.comparisons.first()
    judged(comparison)
    german = {"accept-language": "de"}
    page = staff.get(address("judgesession", "change", session.pk), headers=german).content.decode()
    page += staff.get(address("judgesession", "changelist"), headers=german).content.decode()
    page += staff.get(address("judgecomparison", "change", comparison.pk), headers=german).content.decode()
    assert page.count("LLARS Judge · Verwaltung") == 3
    for english in (
        "Percent",
        "Kind",
        "Evaluations seen",
        "Created at",
        "Started at",
        "Pair:",
        "Lease expires",
        "Django",
    ):
        assert english not in page


def test_researchers_do_not_enter_the_admin(client: Client) -> None:
    client.force_login(UserFactory())
    assert client.get(address("llmprovider", "changelist")).status_code == 302
