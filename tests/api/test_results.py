"""Results over HTTP are what is stored, and never a number that JSON does not know."""

import json
import math

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from judge.api.serializers import results as shapes
from judge.models import JudgeSession, ThreadEloScore
from judge.services.results import refresh_results
from tests.factories import judged

pytestmark = pytest.mark.django_db


def of(name: str, session: JudgeSession) -> str:
    return reverse(f"judge-api:{name}", args=[session.pk])


@pytest.fixture
def finished(session: JudgeSession) -> JudgeSession:
    """All comparisons judged: whoever is shown first wins, but for the first pair, where one thread wins twice."""
    session.comparisons.filter(status="running").update(
        status="pending", claim_token=None, lease_expires_at=None, provider=None, provider_slot=None, worker_id=None
    )
    done = session.comparisons.filter(status="completed").values_list("pair", flat=True)
    for comparison in session.comparisons.filter(status="pending"):
        judged(comparison, winner="B" if comparison.pair_id in done and comparison.position_order == 2 else "A")
    refresh_results(session.pk)
    session.refresh_from_db()
    return session


def test_before_the_first_results_everything_is_empty(client: APIClient, session: JudgeSession) -> None:
    results = client.get(of("results", session)).json()
    assert results["evaluations_seen"] == 0
    assert results["evaluations_now"] == 2
    assert (results["pairs_total"], results["pairs_complete"], results["is_partial"]) == (3, 0, True)
    assert results["pillars"] == results["matrix"] == results["leaderboard"] == []
    assert client.get(of("thread-leaderboard", session)).json() == {"leaderboard": [], "pillar_aggregates": {}}
    assert client.get(of("elo-distribution", session)).json() == {"pillars": {}}


def test_results_hold_exactly_what_is_described(client: APIClient, finished: JudgeSession) -> None:
    results = client.get(of("results", finished)).json()
    assert set(results) == set(shapes.ResultsSerializer().fields)
    assert results["is_partial"] is False
    assert [pillar["rank"] for pillar in results["pillars"]] == [1, 2]
    assert len(results["leaderboard"]) == 6
    (cell,) = results["matrix"]
    assert cell["n"] == cell["wins_a"] + cell["wins_b"] + cell["ties"] == 3
    stored = finished.snapshots.get().payload
    for name, shape in (
        ("pillars", shapes.PillarResultSerializer),
        ("matrix", shapes.MatrixCellSerializer),
        ("leaderboard", shapes.LeaderboardRowSerializer),
    ):
        assert set(stored[name][0]) == set(shape().fields) - {"pillar_name"}, name
    assert set(stored["position_swap"]) == set(shapes.PositionSwapSerializer().fields)


def test_the_leaderboard_is_sorted_and_names_pillars(client: APIClient, finished: JudgeSession) -> None:
    answer = client.get(of("thread-leaderboard", finished), headers={"Accept-Language": "de"}).json()
    ratings = [row["elo_score"] for row in answer["leaderboard"]]
    assert ratings == sorted(ratings, reverse=True)
    assert {row["pillar_name"] for row in answer["leaderboard"]} == {"Rollenspiele", "Feature aus Säule 1"}
    assert answer["pillar_aggregates"]["1"]["thread_count"] == 3
    mean = sum(aggregate["avg_elo"] for aggregate in answer["pillar_aggregates"].values()) / 2
    assert mean == pytest.approx(1500)


def test_the_elo_distribution_describes_each_pillar(client: APIClient, finished: JudgeSession) -> None:
    ThreadEloScore.objects.filter(session=finished).delete()
    first = finished.pillars.get(number=1)
    threads = list(first.threads.order_by("pk"))
    for thread, score in zip(threads, (1600.0, 1400.0, 1500.0), strict=True):
        ThreadEloScore.objects.create(
            session=finished, thread=thread, pillar=first, elo_score=score, matches_played=0, wins=0, losses=0, ties=0
        )
    pillars = client.get(of("elo-distribution", finished), headers={"Accept-Language": "en"}).json()["pillars"]
    assert pillars == {
        "1": {
            "name": "Role plays",
            "elo_scores": [1400.0, 1500.0, 1600.0],
            "mean": 1500.0,
            "median": 1500.0,
            "std_dev": pytest.approx(math.sqrt(20_000 / 3)),
            "min": 1400.0,
            "max": 1600.0,
        }
    }


def test_infinite_and_undefined_numbers_become_null() -> None:
    rating = {"wins": 1, "losses": 0, "ties": 0, "win_rate": math.nan, "low": -math.inf, "high": math.inf}
    data = shapes.RateSerializer(rating).data
    assert (data["win_rate"], data["low"], data["high"]) == (None, None, None)
    json.dumps(data, allow_nan=False)
