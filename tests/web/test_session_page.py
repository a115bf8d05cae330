"""The live page without its socket: what the database says, and the buttons."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from judge.models import JudgeComparison, JudgeSession
from judge.web import actions
from tests.factories import SessionFactory, running, share
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db

ACTIONS = ("start", "pause", "resume", "abort", "retry-failed")


def buttons(client: Client, session: JudgeSession) -> set[str]:
    page = client.get(f"/judge/session/{session.pk}/").content.decode()
    return {action for action in ACTIONS if f'id="action-{action}"' in page}


def test_a_reload_shows_lanes_queue_and_history_from_the_database(session: JudgeSession, reader: Client) -> None:
    page = reader.get(f"/judge/session/{session.pk}/").content.decode()
    running_one = session.comparisons.get(status="running")
    for thread in (running_one.shown_first, running_one.shown_second):
        assert thread.messages.all()[0].content in page
    assert "A wins" in page
    assert "2 of 6 comparisons" in page
    assert 'ws-connect="/ws/judge/html/session/' in page


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("created", {"start", "abort"}),
        ("queued", {"pause", "abort"}),
        ("running", {"pause", "abort"}),
        ("paused", {"resume", "abort"}),
        ("completed", set()),
        ("failed", {"resume", "abort"}),
        ("aborted", set()),
    ],
)
def test_the_status_decides_which_buttons_there_are(
    status: str, expected: set[str], owner: User, reader: Client
) -> None:
    assert buttons(reader, SessionFactory(owner=owner, status=status)) == expected


def test_failed_comparisons_of_an_ended_session_can_be_retried(owner: User, reader: Client) -> None:
    session = SessionFactory(owner=owner, status="completed")
    JudgeSession.objects.filter(pk=session.pk).update(failed_comparisons=1)
    assert buttons(reader, session) == {"retry-failed"}


def test_people_who_may_only_read_get_no_buttons_and_are_refused(session: JudgeSession) -> None:
    client = browser_of(share(session))
    assert buttons(client, session) == set()
    assert client.post(f"/judge/session/{session.pk}/pause/").status_code == 403
    session.refresh_from_db()
    assert session.status == "running"


def test_people_who_may_run_it_can_pause_it(session: JudgeSession) -> None:
    client = browser_of(share(session, can_edit=True))
    assert client.post(f"/judge/session/{session.pk}/pause/").status_code == 302
    session.refresh_from_db()
    assert session.status == "paused"


def test_a_foreign_session_and_an_unknown_one_look_alike(session: JudgeSession, stranger: User) -> None:
    comparison = session.comparisons.first()
    assert comparison is not None
    parts = ("", "live/", "results/", "comparisons/", f"comparisons/{comparison.pk}/")
    client = browser_of(stranger)
    for part in parts:
        foreign = client.get(f"/judge/session/{session.pk}/{part}")
        unknown = client.get(f"/judge/session/{session.pk + 999}/{part}")
        assert foreign.status_code == unknown.status_code == 404
        assert foreign.content.count(b"\n") == unknown.content.count(b"\n")
    for action in (*ACTIONS, "delete"):
        assert client.post(f"/judge/session/{session.pk}/{action}/").status_code == 404


def test_actions_are_no_links(session: JudgeSession, reader: Client) -> None:
    for action in (*ACTIONS, "delete"):
        assert reader.get(f"/judge/session/{session.pk}/{action}/").status_code == 405


def test_an_action_by_htmx_answers_with_fresh_parts(session: JudgeSession, reader: Client) -> None:
    answer = reader.post(f"/judge/session/{session.pk}/pause/", headers={"hx-request": "true"})
    parts = answer.content.decode()
    for root in ("session-state", "session-actions", "session-progress", "notices"):
        assert f'id="{root}"' in parts
    assert "paused" in parts
    assert 'id="action-resume"' in parts


def test_a_second_click_is_told_what_happened_instead_of_failing(session: JudgeSession, reader: Client) -> None:
    address = f"/judge/session/{session.pk}/pause/"
    reader.post(address, headers={"hx-request": "true"})
    again = reader.post(address, headers={"hx-request": "true"})
    assert again.status_code == 200
    assert "Only a queued or running session can be paused." in again.content.decode()


def test_start_wakes_the_lanes(
    owner: User, reader: Client, sent_wakeups: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    session = SessionFactory(owner=owner, worker_count=2)
    with django_capture_on_commit_callbacks(execute=True):
        reader.post(f"/judge/session/{session.pk}/start/")
    session.refresh_from_db()
    assert session.status == "queued"
    assert len(sent_wakeups) == 2


def test_an_ended_session_can_be_deleted_and_a_running_one_not(owner: User, reader: Client) -> None:
    ended = SessionFactory(owner=owner, status="aborted")
    active = SessionFactory(owner=owner, status="running")
    for session in (ended, active):
        reader.post(f"/judge/session/{session.pk}/delete/")
    assert list(JudgeSession.objects.values_list("pk", flat=True)) == [active.pk]


@pytest.mark.parametrize("lanes", [1, 4])
def test_the_page_costs_the_same_queries_whatever_the_number_of_lanes(
    lanes: int, owner: User, reader: Client, django_assert_max_num_queries: Any
) -> None:
    session = SessionFactory(owner=owner, status="running", worker_count=4, threads=4, samples_per_pillar=4)
    for worker_id, comparison in enumerate(JudgeComparison.objects.filter(session=session)[:lanes]):
        running(comparison, worker_id)
    with django_assert_max_num_queries(28):
        reader.get(f"/judge/session/{session.pk}/")


def test_the_reason_of_a_pause_is_said_in_words(session: JudgeSession, reader: Client) -> None:
    JudgeSession.objects.filter(pk=session.pk).update(status="paused", status_reason="insufficient_quota")
    page = reader.get(f"/judge/session/{session.pk}/").content.decode()
    assert "quota is used up" in page


def test_the_simulated_judge_is_labelled(session: JudgeSession, reader: Client) -> None:
    for path in ("/judge/", f"/judge/session/{session.pk}/", f"/judge/session/{session.pk}/results/", "/judge/config/"):
        assert "simulated, no LLM" in reader.get(path).content.decode()


@pytest.mark.parametrize("action", ["start", "abort", "delete"])
def test_a_session_that_is_deleted_between_looking_and_acting_is_not_found(
    owner: User, reader: Client, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    session = SessionFactory(owner=owner)
    look = actions.editable_session

    def and_then_it_is_deleted(*args: Any) -> JudgeSession:
        found = look(*args)
        JudgeSession.objects.filter(pk=session.pk).update(deleted_at=timezone.now())
        return found

    monkeypatch.setattr(actions, "editable_session", and_then_it_is_deleted)
    assert reader.post(f"/judge/session/{session.pk}/{action}/").status_code == 404
    assert JudgeSession.objects.get(pk=session.pk).status == "created"
