"""Comparisons over HTTP: lists, filters, the whole verdict."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from rest_framework.test import APIClient

from judge.models import JudgeModel, JudgeSession
from tests.api.conftest import CountQueries, client_of
from tests.factories import SessionFactory, judged, running

pytestmark = pytest.mark.django_db


def of(name: str, session: JudgeSession, *more: int) -> str:
    return reverse(f"judge-api:{name}", args=[session.pk, *more])


def test_comparisons_come_in_queue_order_with_slots_as_presented(client: APIClient, session: JudgeSession) -> None:
    rows = client.get(of("comparisons", session)).json()["results"]
    assert [row["queue_position"] for row in rows] == sorted(row["queue_position"] for row in rows)
    assert len(rows) == 6
    for row in rows:
        comparison = session.comparisons.get(pk=row["id"])
        threads = (comparison.pair.thread_a_id, comparison.pair.thread_b_id)
        pillars = (comparison.pair.pillar_a.number, comparison.pair.pillar_b.number)
        if comparison.position_order == 2:
            threads, pillars = threads[::-1], pillars[::-1]
        assert (row["thread_a_id"], row["thread_b_id"]) == threads
        assert (row["pillar_a"], row["pillar_b"]) == pillars


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        ({"status": "completed"}, 2),
        ({"status": "running"}, 1),
        ({"status": "failed"}, 0),
        ({"winner": "A"}, 1),
        ({"winner": "TIE"}, 1),
        ({"winner": "B"}, 0),
        ({"status": "pending", "winner": "A"}, 0),
    ],
)
def test_the_list_is_filtered(client: APIClient, session: JudgeSession, wanted: dict[str, str], count: int) -> None:
    page = client.get(of("comparisons", session), wanted).json()
    assert page["count"] == len(page["results"]) == count


@pytest.mark.parametrize("wanted", [{"status": "done"}, {"winner": "C"}])
def test_an_unknown_filter_value_is_refused(client: APIClient, session: JudgeSession, wanted: dict[str, str]) -> None:
    answer = client.get(of("comparisons", session), wanted)
    assert answer.status_code == 400
    assert set(answer.json()["details"]) == set(wanted)


@pytest.mark.parametrize("name", ["comparisons", "queue", "current"])
def test_a_list_needs_as_many_queries_for_few_as_for_many(
    owner: User, model: JudgeModel, name: str, count_queries: CountQueries
) -> None:
    counts = set()
    for size in (2, 6):
        session = SessionFactory(owner=owner, model=model, threads=size, samples_per_pillar=size, worker_count=2)
        first, second, *some, _last = session.comparisons.order_by("queue_position")
        running(second, worker_id=1)
        for comparison in (first, *some[::2]):
            judged(comparison)
        counts.add(count_queries(client_of(owner), of(name, session)))
    assert len(counts) == 1


def test_the_queue_shows_what_comes_next(client: APIClient, session: JudgeSession, model: JudgeModel) -> None:
    waiting = list(session.comparisons.filter(status="pending").order_by("queue_position").values_list("pk", flat=True))
    page = client.get(of("queue", session), {"page_size": 2}).json()
    assert page["count"] == 3
    assert [row["id"] for row in page["results"]] == waiting[:2]
    assert {row["judge_model_id"] for row in page["results"]} == {model.pk}


def test_a_judged_comparison_shows_the_whole_verdict(client: APIClient, session: JudgeSession) -> None:
    comparison = session.comparisons.filter(status="completed").order_by("queue_position").first()
    detail = client.get(of("comparison", session, comparison.pk)).json()
    assert detail["winner"] == detail["evaluation"]["winner"] == "A"
    assert detail["confidence"] == 0.8
    assert detail["evaluation"]["raw_response"] == '{"winner": "A"}'
    assert detail["evaluation"]["chain_of_thought"] == {"step_1": "Example step."}
    assert [score["criterion"] for score in detail["evaluation"]["scores"]] == [
        "counsellor_coherence",
        "client_coherence",
        "quality",
        "empathy",
        "authenticity",
        "solution_orientation",
    ]
    assert detail["evaluation"]["cost"] is None
    assert [attempt["outcome"] for attempt in detail["attempts"]] == ["accepted"]
    twin = session.comparisons.exclude(pk=comparison.pk).get(pair=comparison.pair)
    assert detail["swap_twin"]["id"] == twin.pk


def test_a_waiting_comparison_has_no_verdict(client: APIClient, session: JudgeSession) -> None:
    comparison = session.comparisons.filter(status="pending").first()
    detail = client.get(of("comparison", session, comparison.pk)).json()
    assert (detail["winner"], detail["confidence"], detail["evaluation"], detail["attempts"]) == (None, None, None, [])


def test_a_comparison_of_another_session_is_not_found_here(
    client: APIClient, session: JudgeSession, model: JudgeModel
) -> None:
    own_other = SessionFactory(owner=session.owner, model=model)
    comparison = own_other.comparisons.first()
    assert client.get(of("comparison", session, comparison.pk)).status_code == 404
    assert client.get(of("comparison", own_other, comparison.pk)).status_code == 200


def test_no_thread_text_is_in_any_answer_about_comparisons(client: APIClient, session: JudgeSession) -> None:
    comparison = session.comparisons.filter(status="completed").first()
    addresses = [of(name, session) for name in ("comparisons", "queue", "current", "results")]
    for address in [*addresses, of("comparison", session, comparison.pk)]:
        assert "Example question of" not in client.get(address).content.decode()
