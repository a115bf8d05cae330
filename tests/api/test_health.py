"""The health of a session: what runs, what is stuck and why, as codes and as sentences in both languages."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone, translation
from rest_framework.test import APIClient

from judge import wording
from judge.models import JudgeSession, LLMProvider, ProviderState, SessionJudge
from judge.selectors import causes, health
from tests.api.conftest import CountQueries
from tests.factories import JudgeModelFactory, SessionFactory, running

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def reachable_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis is there, whatever runs beside these tests."""
    monkeypatch.setattr(health, "redis_answers", lambda: True)


def read(client: APIClient, session: JudgeSession) -> dict[str, Any]:
    answer = client.get(f"/api/judge/sessions/{session.pk}/health/")
    assert answer.status_code == 200
    return dict(answer.json())


def codes(client: APIClient, session: JudgeSession) -> list[str]:
    return [cause["code"] for cause in read(client, session)["causes"]]


def provider_of(session: JudgeSession) -> LLMProvider:
    judge = session.session_judges.get()
    return judge.model.provider


def ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.fixture
def idle(owner: Any, model: Any) -> JudgeSession:
    """A session that was started two minutes ago and that no worker has taken anything of."""
    session = SessionFactory(owner=owner, model=model, status="queued", worker_count=2)
    JudgeSession.objects.filter(pk=session.pk).update(started_at=ago(120))
    return session


def test_a_session_that_is_being_judged_works_and_shows_its_lanes(client: APIClient, session: JudgeSession) -> None:
    found = read(client, session)
    assert (found["state"], found["causes"]) == ("working", [])
    (held,) = found["leases"]
    assert (held["worker_id"], held["attempt_count"], held["expired"]) == (1, 1, False)
    assert held["provider_id"] == provider_of(session).pk
    assert held["judge"] == session.session_judges.get().model.model_name
    assert 0 <= held["seconds"] < 30
    assert 0 < held["lease_seconds_left"] <= 30


def test_a_lost_lease_waits_for_recovery(client: APIClient, session: JudgeSession) -> None:
    session.comparisons.filter(status="running").update(lease_expires_at=ago(5))
    found = read(client, session)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"], cause["worker_id"]) == ("waiting", "lease_expired", 1)
    assert cause["passes_by_itself"] is True


def test_a_lease_that_nobody_recovers_tells_of_the_missing_clock(client: APIClient, session: JudgeSession) -> None:
    session.comparisons.filter(status="running").update(lease_expires_at=ago(300))
    found = read(client, session)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"]) == ("stuck", "not_recovered")
    assert 300 <= cause["seconds"] < 330


def test_work_that_no_worker_takes_is_noticed_after_half_a_minute(client: APIClient, idle: JudgeSession) -> None:
    found = read(client, idle)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"]) == ("stuck", "no_worker")
    assert 120 <= cause["seconds"] < 150
    JudgeSession.objects.filter(pk=idle.pk).update(started_at=ago(10))
    assert codes(client, idle) == []


def test_waiting_work_without_redis_names_redis(
    client: APIClient, idle: JudgeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "redis_answers", lambda: False)
    assert codes(client, idle) == ["broker_away"]


def test_a_session_whose_plan_is_still_to_be_written_does_not_work_yet(client: APIClient, idle: JudgeSession) -> None:
    idle.comparisons.all().delete()
    JudgeSession.objects.filter(pk=idle.pk).update(planned_comparisons=0, plan_written_at=ago(20))
    found = read(client, idle)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"], cause["passes_by_itself"]) == ("waiting", "plan_expected", True)
    JudgeSession.objects.filter(pk=idle.pk).update(plan_written_at=ago(90))
    found = read(client, idle)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"]) == ("stuck", "plan_missing")
    assert 90 <= cause["seconds"] < 120


def test_an_adaptive_session_that_nobody_plans_on_is_stuck(client: APIClient, owner: Any, model: Any) -> None:
    choices = {"comparison_mode": "adaptive", "comparison_budget": 20}
    session = SessionFactory(owner=owner, model=model, status="running", **choices)
    done = session.comparisons.update(status="failed", error_code="refused", completed_at=ago(300))
    JudgeSession.objects.filter(pk=session.pk).update(
        failed_comparisons=done, started_at=ago(400), plan_written_at=ago(400)
    )
    found = read(client, session)
    assert (found["state"], codes(client, session)) == ("stuck", ["plan_missing"])


def test_rows_that_are_written_while_the_health_is_read_are_no_mismatch(
    client: APIClient, session: JudgeSession
) -> None:
    before = JudgeSession.objects.get(pk=session.pk)
    before.planned_comparisons -= 2
    before.completed_comparisons -= 1
    assert health.health(before).counters_match


def test_a_resumed_session_is_not_said_to_wait_since_its_first_start(client: APIClient, session: JudgeSession) -> None:
    session.comparisons.filter(status="running").delete()
    JudgeSession.objects.filter(pk=session.pk).update(
        status="queued", started_at=ago(3600), total_comparisons=5, planned_comparisons=5
    )
    session.comparisons.filter(status="completed").update(completed_at=ago(3000))
    assert codes(client, session) == ["not_taken_yet"]


def test_a_resting_provider_is_named_with_the_end_of_its_rest(client: APIClient, idle: JudgeSession) -> None:
    until = timezone.now() + timedelta(seconds=300)
    ProviderState.objects.create(provider=provider_of(idle), blocked_until=until, blocked_reason="rate_limited")
    found = read(client, idle)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"], cause["reason"]) == ("waiting", "provider_cooling", "rate_limited")
    assert cause["until"] is not None
    assert provider_of(idle).name in cause["text"]
    ProviderState.objects.update(blocked_until=ago(1))
    assert codes(client, idle) == ["no_worker"]


def test_an_open_breaker_is_named_with_its_reason(client: APIClient, idle: JudgeSession) -> None:
    ProviderState.objects.create(
        provider=provider_of(idle), breaker_reason="connection_failed", breaker_opened_at=ago(20)
    )
    found = read(client, idle)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"], cause["reason"]) == ("waiting", "breaker_open", "connection_failed")


def test_what_the_breaker_paused_goes_on_by_itself(client: APIClient, idle: JudgeSession) -> None:
    ProviderState.objects.create(
        provider=provider_of(idle), breaker_reason="connection_failed", breaker_opened_at=ago(20)
    )
    SessionJudge.objects.filter(session=idle).update(stop_reason="connection_failed", stopped_at=ago(20))
    JudgeSession.objects.filter(pk=idle.pk).update(status="paused", status_reason="connection_failed")
    found = read(client, idle)
    assert found["state"] == "waiting"
    assert [cause["code"] for cause in found["causes"]] == ["paused_until_back", "breaker_open"]


def test_a_wrong_key_is_not_mended_by_a_provider_that_comes_back(client: APIClient, idle: JudgeSession) -> None:
    ProviderState.objects.create(
        provider=provider_of(idle), breaker_reason="connection_failed", breaker_opened_at=ago(20)
    )
    SessionJudge.objects.filter(session=idle).update(stop_reason="unauthorized", stopped_at=ago(30))
    JudgeSession.objects.filter(pk=idle.pk).update(status="paused", status_reason="unauthorized")
    found = read(client, idle)
    assert found["state"] == "stuck"
    assert [cause["code"] for cause in found["causes"]] == ["paused_because", "judge_stopped", "breaker_open"]


def test_a_stopped_judge_is_named_with_its_reason(client: APIClient, session: JudgeSession) -> None:
    SessionJudge.objects.filter(session=session).update(stop_reason="unauthorized", stopped_at=ago(3))
    found = read(client, session)
    (cause,) = found["causes"]
    assert (found["state"], cause["code"], cause["reason"]) == ("stuck", "judge_stopped", "unauthorized")
    assert cause["judge"] == session.session_judges.get().model.model_name


def test_places_that_other_sessions_hold_are_counted(client: APIClient, idle: JudgeSession) -> None:
    provider = provider_of(idle)
    LLMProvider.objects.filter(pk=provider.pk).update(max_concurrency=2)
    model = idle.session_judges.get().model
    other = SessionFactory(owner=idle.owner, model=model, status="running", worker_count=2)
    for worker_id, comparison in enumerate(other.comparisons.order_by("queue_position")[:2]):
        running(comparison, worker_id=worker_id)
    (cause,) = read(client, idle)["causes"]
    assert (cause["code"], cause["places"], cause["taken_by_others"]) == ("slots_taken", 2, 2)
    assert "2" in cause["text"]
    assert codes(client, other) == []


def test_a_person_who_paused_is_told_from_a_reason(client: APIClient, session: JudgeSession) -> None:
    JudgeSession.objects.filter(pk=session.pk).update(status="paused")
    found = read(client, session)
    assert (found["state"], [cause["code"] for cause in found["causes"]]) == ("idle", ["paused"])
    JudgeSession.objects.filter(pk=session.pk).update(status_reason="insufficient_quota")
    found = read(client, session)
    assert (found["state"], [cause["code"] for cause in found["causes"]]) == ("stuck", ["paused_because"])
    assert found["causes"][0]["reason"] == "insufficient_quota"


def test_a_session_without_one_verdict_and_wrong_counters_are_named(client: APIClient, session: JudgeSession) -> None:
    JudgeSession.objects.filter(pk=session.pk).update(
        status="failed", status_reason="nothing_judged", completed_comparisons=0
    )
    assert codes(client, session) == ["nothing_judged", "counters_mismatch"]


def test_a_session_that_nobody_started_is_idle(client: APIClient, owner: Any, model: Any) -> None:
    session = SessionFactory(owner=owner, model=model)
    found = read(client, session)
    assert (found["state"], found["causes"]) == ("idle", [])


@pytest.mark.parametrize("language", ["de", "en"])
@pytest.mark.parametrize("code", sorted(wording.CAUSE_WORDS))
def test_every_cause_has_a_sentence(code: str, language: str) -> None:
    cause = causes.Cause(
        code, "unauthorized", 0, 1, 2, "example-model", 3, "Example provider", 40, timezone.now(), 5, 4
    )
    with translation.override(language):
        text = str(cause.text)
    assert text.endswith((".", "?"))
    assert "%" not in text
    assert "None" not in text


def test_the_number_of_queries_does_not_grow(
    client: APIClient, owner: Any, session: JudgeSession, count_queries: CountQueries
) -> None:
    few = count_queries(client, f"/api/judge/sessions/{session.pk}/health/")
    other = JudgeModelFactory()
    large = SessionFactory(owner=owner, model=other, threads=6, samples_per_pillar=6, status="running", worker_count=5)
    for position in (1, 2):
        SessionJudge.objects.create(session=large, position=position, model=JudgeModelFactory())
    for worker_id, comparison in enumerate(large.comparisons.order_by("queue_position")[:5]):
        running(comparison, worker_id=worker_id)
    assert count_queries(client, f"/api/judge/sessions/{large.pk}/health/") == few
    assert few <= 11  # six of them are the health itself
