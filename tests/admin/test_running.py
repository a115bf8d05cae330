"""The page "What is running now": who sees it, what it shows, and what it costs."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from judge.models import JudgeAttempt, JudgeModel, JudgeSession, ProviderState
from judge.selectors import running as running_page
from judge.services import wakeups
from tests.factories import JudgeModelFactory, SessionFactory, StaffFactory, UserFactory, judged, running

pytestmark = pytest.mark.django_db
PART = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wake-ups are not sent, and Redis is there whatever runs beside these tests."""
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: None)
    monkeypatch.setattr(running_page, "redis_answers", lambda: True)


@pytest.fixture
def address() -> str:
    return reverse("admin:judge_running")


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(StaffFactory())
    client.cookies["django_language"] = "en"
    return client


def busy_session(model: JudgeModel, lanes: int = 2, **choices: Any) -> JudgeSession:
    session = SessionFactory(model=model, status="running", worker_count=5, **choices)
    first, *others = session.comparisons.order_by("queue_position")[: lanes + 1]
    judged(first)
    for worker_id, comparison in enumerate(others):
        running(comparison, worker_id=worker_id)
    return session


def text(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_idle_installation_says_so_and_what_comes_next(staff: Client, address: str) -> None:
    page = text(staff, address)
    assert "No session is being judged. A session appears here as soon as somebody starts it." in page
    assert "No comparison is being judged." in page
    assert "No call failed." in page


def test_the_index_links_to_it(staff: Client, address: str) -> None:
    assert f'href="{address}"' in text(staff, reverse("admin:index"))


def test_sessions_lanes_providers_and_failures_are_shown(staff: Client, address: str) -> None:
    model = JudgeModelFactory()
    session = busy_session(model)
    attempt = JudgeAttempt.objects.filter(comparison__session=session).get()
    for outcome, minutes in (("invalid_json", 1), ("invalid_json", 2), ("server_error", 90)):
        attempt.pk, attempt.number, attempt.outcome = None, attempt.number + 1, outcome
        attempt.ended_at = timezone.now() - timedelta(minutes=minutes)
        attempt.save()
    page = text(staff, address)
    assert session.name in page
    assert reverse("judge:session", args=(session.pk,)) in page
    held = session.comparisons.filter(status="running").first()
    assert held is not None
    assert reverse("judge:comparison", args=(session.pk, held.pk)) in page
    assert model.model_name in page
    assert model.provider.name in page
    assert "2 / 5" in page
    assert "invalid_json" in page
    assert "server_error" not in page  # longer ago than an hour


def test_the_rate_counts_the_last_five_minutes() -> None:
    session = busy_session(JudgeModelFactory())
    JudgeSession.objects.filter(pk=session.pk).update(started_at=timezone.now() - timedelta(hours=1))
    (shown,) = running_page.running_now().sessions
    assert shown.rate == pytest.approx(0.2, abs=0.02)
    session.comparisons.filter(status="completed").update(completed_at=timezone.now() - timedelta(minutes=6))
    (shown,) = running_page.running_now().sessions
    assert shown.rate is None
    assert (shown.running, shown.completed, shown.pending) == (2, 1, session.total_comparisons - 3)


def test_a_lost_lease_a_rest_an_open_breaker_and_a_missing_redis_stand_out(
    staff: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_page, "redis_answers", lambda: False)
    resting, broken = JudgeModelFactory(), JudgeModelFactory()
    now = timezone.now()
    session = busy_session(resting)
    busy_session(broken)
    session.comparisons.filter(status="running").update(lease_expires_at=now - timedelta(seconds=9))
    ProviderState.objects.create(
        provider=resting.provider, blocked_until=now + timedelta(minutes=5), blocked_reason="rate_limited"
    )
    ProviderState.objects.create(
        provider=broken.provider, breaker_reason="connection_failed", breaker_opened_at=now, concurrency=1
    )
    page = text(staff, address)
    assert "Redis does not answer." in page
    assert "2 comparisons lost their workers" in page
    assert page.count("ran out") == 2
    assert "rests until" in page
    assert "not called since" in page
    assert "could not be reached" in page
    assert "fewer at once than the 5 of its settings" in page


def test_its_refresh_is_the_part_alone_and_needs_nothing_from_elsewhere(staff: Client, address: str) -> None:
    page = text(staff, address)
    assert 'hx-trigger="every 5s"' in page
    assert "//" not in page.replace("http://www.w3.org", "").replace("<!-- //", "")
    assert " style=" not in page
    answer = staff.get(address, headers=PART)
    part = answer.content.decode().strip()
    assert part.startswith('<div id="running-now"')
    assert "<html" not in part
    assert "no-store" in answer.headers["Cache-Control"]


def test_only_staff_who_may_view_sessions_see_it(client: Client, address: str) -> None:
    assert client.get(address).status_code == 302
    client.force_login(UserFactory())
    assert client.get(address).status_code == 302
    clerk = UserFactory(is_staff=True, groups=())
    client.force_login(clerk)
    assert client.get(address).status_code == 403
    assert address not in text(client, reverse("admin:index"))
    clerk.user_permissions.add(Permission.objects.get(codename="view_judgesession"))
    assert client.get(address).status_code == 200


def test_a_refresh_after_logging_out_loads_the_page_anew(client: Client, address: str) -> None:
    answer = client.get(address, headers=PART)
    assert (answer.status_code, answer.headers["HX-Refresh"]) == (200, "true")
    assert answer.content == b""


def test_the_number_of_queries_does_not_grow(staff: Client, address: str) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            text(staff, address)
        return len(captured)

    busy_session(JudgeModelFactory(), lanes=1)
    few = queries()
    for _ in range(3):
        busy_session(JudgeModelFactory(), lanes=3)
    assert queries() == few
    assert few <= 14
