"""What the live page says of judges and providers that stand still: on the page, in a swap, over the socket."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from judge import partials
from judge.models import JudgeSession, LLMProvider, ProviderState, SessionJudge
from judge.selectors.notices import notices

pytestmark = pytest.mark.django_db
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def provider(session: JudgeSession) -> LLMProvider:
    found = session.session_judges.get().model.provider
    LLMProvider.objects.filter(pk=found.pk).update(name="Example provider")
    found.refresh_from_db()
    return found


def everywhere(session: JudgeSession, reader: Client) -> list[str]:
    """The page as it loads, the part that a blocked socket polls for, and what the socket sends."""
    session.refresh_from_db()
    place = f"/judge/session/{session.pk}/"
    return [reader.get(place).content.decode(), reader.get(f"{place}live/").content.decode(), partials.state(session)]


def test_a_session_that_goes_well_has_no_notices(session: JudgeSession, reader: Client) -> None:
    for text in everywhere(session, reader):
        assert "state-notices" not in text


def test_a_stopped_judge_is_named_with_the_reason(session: JudgeSession, provider: LLMProvider, reader: Client) -> None:
    SessionJudge.objects.update(stop_reason="unauthorized", stopped_at=timezone.now())
    for text in everywhere(session, reader):
        assert text.count("state-notices") == 1
        assert "(Example provider) is stopped in this session. The provider refused the key." in text.replace("\n", " ")


def test_a_reason_that_a_notice_tells_is_not_told_twice(
    session: JudgeSession, provider: LLMProvider, reader: Client
) -> None:
    SessionJudge.objects.update(stop_reason="unauthorized", stopped_at=timezone.now())
    JudgeSession.objects.filter(pk=session.pk).update(status="paused", status_reason="unauthorized")
    for text in everywhere(session, reader):
        assert text.count("The provider refused the key.") == 1


def test_a_resting_provider_says_until_when(session: JudgeSession, provider: LLMProvider, reader: Client) -> None:
    until = timezone.now() + timedelta(minutes=10)
    ProviderState.objects.create(provider=provider, blocked_until=until, blocked_reason="rate_limited")
    for text in everywhere(session, reader):
        assert "Example provider asked for a rest" in text
        assert f"{timezone.localtime(until):%H:%M}" in text


def test_an_open_breaker_says_that_it_goes_on_by_itself(
    session: JudgeSession, provider: LLMProvider, reader: Client
) -> None:
    ProviderState.objects.create(
        provider=provider, breaker_reason="connection_failed", breaker_opened_at=timezone.now()
    )
    for text in everywhere(session, reader):
        assert "Example provider is not called at present." in text
        assert "judging goes on by itself" in text


def test_names_stay_text(session: JudgeSession, provider: LLMProvider) -> None:
    LLMProvider.objects.filter(pk=provider.pk).update(name=HOSTILE)
    SessionJudge.objects.update(stop_reason="unauthorized", stopped_at=timezone.now())
    assert "<img" not in partials.state(session)


@pytest.mark.parametrize(("status", "queries"), [("running", 2), ("paused", 2), ("completed", 0), ("created", 0)])
def test_looking_for_notices_costs_two_queries_while_it_matters(
    status: str, queries: int, session: JudgeSession
) -> None:
    session.status = status
    with CaptureQueriesContext(connection) as counted:
        notices(session)
    assert len(counted) == queries
