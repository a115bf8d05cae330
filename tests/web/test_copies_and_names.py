"""A session's configuration is copied into a new form; its name and notes can be changed, by those who may."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judge.models import JudgeModel, JudgeSession, LLMProvider
from tests.factories import SessionFactory, share
from tests.pillars.factories import EmailThreadFactory
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db


def copied(client: Client, session: JudgeSession) -> str:
    answer = client.get(f"/judge/config/?from={session.pk}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_copy_is_filled_in_whole(owner: User, reader: Client, model: JudgeModel) -> None:
    session = SessionFactory(
        owner=owner,
        model=model,
        name="Example original",
        comparison_mode="adaptive",
        comparison_budget=24,
        repetitions_per_pair=2,
        max_threads_per_pillar=3,
        position_swap=False,
        worker_count=5,
        seed=99,
        description="Example notes",
        language="en",
    )
    page = copied(reader, session)
    for name, value in (
        ("session_name", "Example original (copy)"),
        ("comparison_budget", "24"),
        ("repetitions_per_pair", "2"),
        ("max_threads_per_pillar", "3"),
        ("seed", "99"),
    ):
        assert re.search(rf'name="{name}" value="{re.escape(value)}"', page), name
    for name, value in (
        ("pillar_ids", "1"),
        ("pillar_ids", "2"),
        ("comparison_mode", "adaptive"),
        ("worker_count", "5"),
        ("language", "en"),
        ("judge_model_ids", str(model.pk)),
    ):
        assert re.search(rf'name="{name}" value="{value}"[^>]* checked', page), name
    assert not re.search(r'name="position_swap"[^>]* checked', page)
    assert "Example notes" in page
    assert '<details class="card advanced" open>' in page


def test_what_cannot_be_chosen_again_is_said(session: JudgeSession, reader: Client, model: JudgeModel) -> None:
    JudgeModel.objects.filter(pk=model.pk).update(is_active=False)
    session.pillars.get(number=2).memberships.all().delete()
    page = copied(reader, session)
    assert f"The judge {model.model_name} is not available any more." in page
    assert "has no threads any more." in page


def test_only_a_visible_session_can_be_copied(session: JudgeSession, reader: Client, stranger: User) -> None:
    foreign = browser_of(stranger).get(f"/judge/config/?from={session.pk}")
    assert foreign.status_code == 404
    for unknown in (session.pk + 999, 0, "-1", "x", "²", "", 2**63, 10**30, "9" * 5000):
        assert reader.get("/judge/config/", {"from": unknown}).status_code == 404
    assert f'?from={session.pk}"' in reader.get(f"/judge/session/{session.pk}/").content.decode()
    assert f'?from={session.pk}"' in reader.get(f"/judge/session/{session.pk}/results/").content.decode()


def test_a_judge_of_somebody_elses_provider_is_not_offered_in_a_copy(
    session: JudgeSession, owner: User, model: JudgeModel
) -> None:
    LLMProvider.objects.filter(pk=model.provider_id).update(owner=owner)
    page = copied(browser_of(share(session)), session)
    assert "is not available any more. Choose another one." in page
    assert f'name="judge_model_ids" value="{model.pk}"' not in page


def test_name_and_notes_can_be_changed(session: JudgeSession, reader: Client) -> None:
    address = f"/judge/session/{session.pk}/rename/"
    answer = reader.post(address, {"session_name": " Another name ", "description": "Why it was run", "seed": 1})
    assert answer["Location"] == f"/judge/session/{session.pk}/"
    before = session.seed
    session.refresh_from_db()
    assert (session.name, session.description, session.seed) == ("Another name", "Why it was run", before)
    page = reader.get(answer["Location"]).content.decode()
    assert "<h1>Another name</h1>" in page
    assert "The name and the notes are saved." in page


@pytest.mark.parametrize(
    ("field", "value"), [("session_name", "  "), ("session_name", "x" * 201), ("description", "x" * 10_001)]
)
def test_a_name_that_is_none_is_told_at_its_field(
    field: str, value: str, session: JudgeSession, reader: Client
) -> None:
    sent = {"session_name": "Another name", "description": "", field: value}
    answer = reader.post(f"/judge/session/{session.pk}/rename/", sent)
    assert answer.status_code == 400
    assert f'id="id_{field}_error"' in answer.content.decode()
    assert JudgeSession.objects.get().name == session.name


def test_only_those_who_may_run_it_may_rename_it(session: JudgeSession, stranger: User) -> None:
    address, sent = f"/judge/session/{session.pk}/rename/", {"session_name": "Another name", "description": ""}
    assert browser_of(stranger).post(address, sent).status_code == 404
    guest = browser_of(share(session))
    assert guest.post(address, sent).status_code == 403
    assert "Change name and notes" not in guest.get(f"/judge/session/{session.pk}/").content.decode()
    assert browser_of(share(session, can_edit=True)).post(address, sent).status_code == 302
    assert guest.get(address).status_code == 302
    session.refresh_from_db()
    assert session.name == "Another name"


def test_a_copy_says_where_its_plan_will_be_another_one(owner: User, reader: Client, model: JudgeModel) -> None:
    session = SessionFactory(owner=owner, model=model)
    assert "the same threads meet" in copied(reader, session)
    EmailThreadFactory(pillar=session.pillars.first())
    page = copied(reader, session)
    assert "the same threads meet" not in page
    assert "3 threads when that session was created, 4 now" in page


def test_a_copy_of_an_adaptive_session_does_not_promise_the_same_pairs(
    owner: User, reader: Client, model: JudgeModel
) -> None:
    session = SessionFactory(owner=owner, model=model, comparison_mode="adaptive", comparison_budget=24)
    assert "the same threads meet" not in copied(reader, session)


def test_whoever_comes_back_to_a_refused_name_sees_the_session(owner: User, reader: Client, model: JudgeModel) -> None:
    session = SessionFactory(owner=owner, model=model)
    answer = reader.get(f"/judge/session/{session.pk}/rename/")
    assert (answer.status_code, answer["Location"]) == (302, f"/judge/session/{session.pk}/")
    assert reader.get(f"/judge/session/{session.pk + 1000}/rename/").status_code == 404
