"""Sessions over HTTP: plan, list, read, run, delete."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from judge.models import JudgeModel, JudgeSession
from judge.selectors import lanes
from tests.api.conftest import CountQueries, client_of
from tests.factories import JudgeModelFactory, LLMProviderFactory, SessionFactory, UserFactory, judged, share
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db
SESSIONS = reverse("judge-api:sessions")
ESTIMATE = reverse("judge-api:estimate")


def of(name: str, session: JudgeSession, *more: int) -> str:
    return reverse(f"judge-api:{name}", args=[session.pk, *more])


@pytest.fixture
def pillars(db: None) -> None:
    for number in (1, 3, 5):
        for _ in range(4):
            EmailThreadFactory(pillar=PillarFactory(number=number))


@pytest.fixture
def body() -> dict[str, Any]:
    return {
        "session_name": "Example session",
        "pillar_ids": [1, 3, 5],
        "comparison_mode": "pillar_sample",
        "samples_per_pillar": 2,
        "position_swap": True,
        "worker_count": 4,
        "calculate_elo": True,
        "seed": 11,
    }


def test_a_session_is_planned_as_asked(
    client: APIClient, owner: User, model: JudgeModel, pillars: None, body: dict[str, Any]
) -> None:
    answer = client.post(SESSIONS, body, format="json")
    assert answer.status_code == 201
    created = answer.json()
    session = JudgeSession.objects.get()
    assert answer["Location"] == of("session", session)
    assert created["id"] == session.pk
    assert created["owner"] == owner.username
    assert {key: created[key] for key in body} == body
    assert created["status"] == "created"
    assert created["allowed_actions"] == ["start", "abort"]
    assert created["total_comparisons"] == session.comparisons.count() == 3 * 2 * 2
    assert [judge["judge_model_id"] for judge in created["judges"]] == [model.pk]
    assert created == client.get(of("session", session)).json()


def test_the_same_body_without_the_last_slash_makes_the_same_plan(
    client: APIClient, model: JudgeModel, pillars: None, body: dict[str, Any]
) -> None:
    for address in (SESSIONS, SESSIONS.rstrip("/")):
        assert client.post(address, body, format="json").status_code == 201
    first, second = (
        list(session.pairs.values_list("thread_a", "thread_b", "repetition")) for session in JudgeSession.objects.all()
    )
    assert first == second


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"session_name": ""}, "session_name"),
        ({"pillar_ids": [1]}, "pillar_ids"),
        ({"pillar_ids": [1, 99]}, "pillar_ids"),
        ({"pillar_ids": [1, 2]}, "pillar_ids"),  # pillar 2 has no threads
        ({"pillar_ids": "1,3"}, "pillar_ids"),
        ({"worker_count": 6}, "worker_count"),
        ({"samples_per_pillar": 0}, "samples_per_pillar"),
        ({"comparison_mode": "everything"}, "comparison_mode"),
        ({"judge_model_ids": []}, "judge_model_ids"),
        ({"judge_model_ids": [987654]}, "judge_model_ids"),
        ({"rubric_id": 987654}, "rubric_id"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"max_threads_per_pillar": 0}, "max_threads_per_pillar"),
    ],
)
def test_a_refused_configuration_names_the_field_and_plans_nothing(
    client: APIClient, model: JudgeModel, pillars: None, body: dict[str, Any], change: dict[str, Any], field: str
) -> None:
    answer = client.post(SESSIONS, body | change, format="json")
    assert answer.status_code == 400
    assert set(answer.json()) == {"error", "error_type", "details"}
    assert field in answer.json()["details"]
    assert not JudgeSession.objects.exists()


def test_without_a_choice_of_judges_there_must_be_only_one(
    client: APIClient, model: JudgeModel, pillars: None, body: dict[str, Any]
) -> None:
    other = JudgeModelFactory()
    assert "judge_model_ids" in client.post(SESSIONS, body, format="json").json()["details"]
    chosen = client.post(SESSIONS, body | {"judge_model_ids": [other.pk]}, format="json")
    assert [judge["judge_model_id"] for judge in chosen.json()["judges"]] == [other.pk]


def test_a_model_of_somebody_elses_provider_does_not_exist(
    client: APIClient, model: JudgeModel, stranger: User, pillars: None, body: dict[str, Any]
) -> None:
    foreign = JudgeModelFactory(provider=LLMProviderFactory(owner=stranger))
    answer = client.post(SESSIONS, body | {"judge_model_ids": [foreign.pk]}, format="json")
    unknown = client.post(SESSIONS, body | {"judge_model_ids": [foreign.pk + 1000]}, format="json")
    assert answer.status_code == unknown.status_code == 400
    assert answer.json() == unknown.json()


def test_the_estimate_is_the_plans_size(
    client: APIClient, model: JudgeModel, pillars: None, body: dict[str, Any]
) -> None:
    del body["session_name"]
    estimate = client.post(ESTIMATE, body, format="json").json()
    assert (
        estimate.items()
        >= {
            "comparison_mode": "pillar_sample",
            "total_threads": 12,
            "base_comparisons": 6,
            "with_position_swap": 12,
            "total_comparisons": 12,
            "estimated_duration_minutes": 1,
            "with_workers": {"1": 2, "2": 1, "3": 1, "4": 1, "5": 1},
        }.items()
    )
    assert not JudgeSession.objects.exists()
    session = client.post(SESSIONS, body | {"session_name": "Example"}, format="json").json()
    assert session["total_comparisons"] == estimate["total_comparisons"]
    assert client.get(reverse("judge-api:session-estimate", args=[session["id"]])).json() == estimate


def test_the_modes_say_what_can_be_chosen(client: APIClient) -> None:
    answer = client.get(reverse("judge-api:comparison-modes"), headers={"Accept-Language": "en"}).json()
    modes = {mode["id"]: mode for mode in answer["modes"]}
    assert set(modes) == {"pillar_sample", "round_robin", "free_for_all", "adaptive"}
    assert modes["pillar_sample"]["available"] is True
    assert all(mode["name"] and mode["description"] for mode in modes.values())
    assert {strategy["id"] for strategy in answer["strategies"]} == {
        "fixed",
        "rotating",
        "bootstrap",
        "proportional",
    }


def test_the_list_shows_own_and_shared_sessions_newest_first(
    client: APIClient, owner: User, model: JudgeModel, session: JudgeSession
) -> None:
    foreign = SessionFactory(model=model)
    shared = SessionFactory(model=model)
    share(shared, user=owner)
    found = [row["id"] for row in client.get(SESSIONS).json()["results"]]
    assert found == [shared.pk, session.pk]
    assert foreign.pk not in found


def test_the_list_comes_in_pages(client: APIClient, owner: User, model: JudgeModel) -> None:
    for _ in range(3):
        SessionFactory(owner=owner, model=model)
    page = client.get(SESSIONS, {"page_size": 2}).json()
    assert (page["count"], len(page["results"]), page["previous"]) == (3, 2, None)
    assert len(client.get(page["next"]).json()["results"]) == 1
    assert client.get(SESSIONS, {"page": 9}).status_code == 404


def test_the_list_needs_as_many_queries_for_one_session_as_for_five(
    client: APIClient, owner: User, model: JudgeModel, count_queries: CountQueries
) -> None:
    SessionFactory(owner=owner, model=model)
    few = count_queries(client, SESSIONS)
    for _ in range(4):
        SessionFactory(owner=owner, model=model)
    assert count_queries(client, SESSIONS) == few


def test_actions_move_the_state_and_wake_the_lanes(
    client: APIClient,
    owner: User,
    model: JudgeModel,
    sent_wakeups: list[Any],
    django_capture_on_commit_callbacks: Any,
) -> None:
    session = SessionFactory(owner=owner, model=model, worker_count=2)
    expected = [("start", "queued"), ("pause", "paused"), ("resume", "queued"), ("abort", "aborted")]
    for action, status in expected:
        with django_capture_on_commit_callbacks(execute=True):
            answer = client.post(of(action, session))
        assert (answer.status_code, answer.json()["status"]) == (200, status)
    assert [call for call in sent_wakeups if call[0] == "judge.run_lane"] == [
        ("judge.run_lane", (session.pk, lane)) for _ in ("start", "resume") for lane in (0, 1)
    ]


def test_failed_comparisons_are_retried(client: APIClient, session: JudgeSession) -> None:
    session.comparisons.filter(status="pending").update(status="failed", error_code="refused")
    session.comparisons.filter(status="running").update(
        status="failed",
        error_code="refused",
        claim_token=None,
        lease_expires_at=None,
        provider=None,
        provider_slot=None,
    )
    failed = session.comparisons.filter(status="failed").count()
    JudgeSession.objects.filter(pk=session.pk).update(status="completed", failed_comparisons=failed)
    answer = client.post(of("retry-failed", session))
    assert (answer.status_code, answer.json()["failed_comparisons"]) == (200, 0)
    assert session.comparisons.filter(status="pending").count() == failed
    assert session.comparisons.filter(status="completed").count() == 2


def test_an_action_that_does_not_fit_is_a_conflict(client: APIClient, session: JudgeSession) -> None:
    answer = client.post(of("start", session), headers={"Accept-Language": "en"})
    assert answer.status_code == 409
    assert answer.json()["error_type"] == "not_allowed_in_status"
    assert answer.json()["error"]
    session.refresh_from_db()
    assert session.status == "running"


def test_a_running_session_cannot_be_deleted_an_aborted_one_can(client: APIClient, session: JudgeSession) -> None:
    assert client.delete(of("session", session)).status_code == 409
    client.post(of("abort", session))
    assert client.delete(of("session", session)).status_code == 204
    assert client.get(of("session", session)).status_code == 404


def test_whom_a_session_is_shown_may_read_but_not_run_it(session: JudgeSession) -> None:
    reader = client_of(share(session))
    assert reader.get(of("session", session)).status_code == 200
    for action in ("start", "pause", "resume", "abort", "retry-failed"):
        assert reader.post(of(action, session)).status_code == 403
    assert reader.delete(of("session", session)).status_code == 403
    session.refresh_from_db()
    assert session.status == "running"


def test_whom_a_session_is_shared_with_for_editing_may_run_it(session: JudgeSession) -> None:
    assert client_of(share(session, can_edit=True)).post(of("pause", session)).status_code == 200


def test_a_person_without_permissions_may_nothing_even_with_an_own_session(model: JudgeModel) -> None:
    person = UserFactory(groups=())
    own = SessionFactory(owner=person, model=model)
    client = client_of(person)
    assert client.get(SESSIONS).status_code == 403
    assert client.get(of("session", own)).status_code == 403
    assert client.post(of("start", own)).status_code == 403
    assert client.post(SESSIONS, {}, format="json").status_code == 403


def test_the_health_shows_leases_errors_and_counters_that_are_wrong(client: APIClient, session: JudgeSession) -> None:
    health = client.get(of("health", session)).json()
    assert health["comparisons"] == {"pending": 3, "running": 1, "completed": 2, "failed": 0}
    assert health["counters_match"] is True
    (lease,) = health["leases"]
    assert (lease["worker_id"], lease["expired"], lease["attempt_count"]) == (1, False, 1)
    session.comparisons.filter(status="pending").update(status="failed", error_code="too_long")
    session.comparisons.filter(status="running").update(lease_expires_at="2020-01-01T00:00:00Z")
    health = client.get(of("health", session)).json()
    assert health["errors"] == {"too_long": 3}
    assert health["counters_match"] is False
    assert health["leases"][0]["expired"] is True


def test_workers_and_current_show_the_lanes(
    client: APIClient, session: JudgeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes.events, "partial_answer", lambda pk, token: '{"chain')
    busy = session.comparisons.get(status="running")
    assert client.get(of("workers", session)).json() == {
        "session_id": session.pk,
        "workers": [
            {"worker_id": 0, "status": "idle", "comparison_id": None},
            {"worker_id": 1, "status": "running", "comparison_id": busy.pk},
        ],
        "queue_pending": 3,
        "completed": 2,
        "failed": 0,
        "total": 6,
    }
    first, second = client.get(of("current", session)).json()["workers"]
    assert (first["is_running"], first["comparison"], first["stream_text"]) == (False, None, "")
    assert first["last"]["winner"] == "TIE"
    assert (second["is_running"], second["comparison"]["id"]) == (True, busy.pk)
    assert second["stream_text"] == '{"chain'


def test_judging_somewhere_else_does_not_show(client: APIClient, session: JudgeSession, model: JudgeModel) -> None:
    other = SessionFactory(model=model, status="running")
    judged(other.comparisons.first())
    assert client.get(of("workers", session)).json()["completed"] == 2
