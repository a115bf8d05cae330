"""Faults that other pairwise judges show in their results: each of these tests fails where one of them comes in."""

from collections.abc import Callable
from typing import Any

import pytest
from django.urls import reverse
from rest_framework.test import APIClient

from judge.models import JudgeComparison, JudgeEvaluation, JudgeSession
from judge.selectors.results import SessionResults, session_results
from judge.services.results import rebuild_results, refresh_results
from pillars.models import EmailThread
from tests.factories import SessionFactory, judged

pytestmark = pytest.mark.django_db

Verdict = Callable[[JudgeComparison], str]


def judge_all(session: JudgeSession, verdict: Verdict) -> SessionResults:
    """Give every comparison its verdict and compute the results."""
    for comparison in session.comparisons.order_by("queue_position"):
        comparison.session = session
        judged(comparison, verdict(comparison), confidence=0.6)
    return rebuilt(session)


def rebuilt(session: JudgeSession) -> SessionResults:
    assert rebuild_results(session.pk) is True
    session.refresh_from_db()
    results = session_results(session)
    assert results is not None
    return results


def in_turn(comparison: JudgeComparison) -> str:
    """By pair: thread A in both orders, the first slot in both orders, a tie in both orders."""
    kind = comparison.pair.queue_order % 3
    if kind == 0:
        return "A" if comparison.position_order == 1 else "B"
    return "A" if kind == 1 else "TIE"


@pytest.fixture
def session() -> JudgeSession:
    """Six pairs over two pillars, each presented in both orders."""
    return SessionFactory(threads=6, samples_per_pillar=6)


def test_a_swap_twin_is_not_a_second_match(session: JudgeSession) -> None:
    results = judge_all(session, in_turn)
    assert session.total_comparisons == 12
    (cell,) = results.matrix
    assert (cell["wins_a"] + cell["wins_b"], cell["ties"], cell["conflicts"], cell["n"]) == (2, 4, 2, 6)
    assert [row["matches_played"] for row in results.leaderboard] == [1] * 12
    stored = session.pillar_statistics.get()
    assert (stored.wins_a + stored.wins_b, stored.ties, stored.conflicts) == (2, 4, 2)


def test_the_second_order_does_not_overwrite_the_first(session: JudgeSession) -> None:
    """The first slot always wins: every pair is a conflict, and neither order decides."""
    (cell,) = judge_all(session, lambda comparison: "A").matrix
    assert (cell["wins_a"], cell["wins_b"], cell["ties"], cell["conflicts"]) == (0, 0, 6, 6)


def test_confidence_moves_no_rank(session: JudgeSession) -> None:
    before = judge_all(session, in_turn)
    JudgeEvaluation.objects.filter(comparison__position_order=1).update(confidence=1.0)
    JudgeEvaluation.objects.filter(comparison__position_order=2).update(confidence=0.01)
    after = rebuilt(session)
    assert (after.pillars, after.matrix) == (before.pillars, before.matrix)

    def without_confidence(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{key: value for key, value in row.items() if key != "avg_confidence"} for row in rows]

    assert without_confidence(after.leaderboard) == without_confidence(before.leaderboard)
    assert after.leaderboard != before.leaderboard


def test_win_rate_means_the_same_at_every_address(session: JudgeSession) -> None:
    judge_all(session, in_turn)
    client = APIClient()
    client.force_login(session.owner)

    def answer(name: str) -> dict[str, Any]:
        body: dict[str, Any] = client.get(reverse(f"judge-api:{name}", args=[session.pk])).json()
        return body

    results, leaderboard = answer("results"), answer("thread-leaderboard")["leaderboard"]
    for row in (*results["pillars"], *results["leaderboard"], *leaderboard):
        assert row["win_rate"] == row["wins"] / (row["wins"] + row["losses"] + row["ties"])
    (cell,) = results["matrix"]
    assert cell["win_rate_a"] == cell["wins_a"] / (cell["wins_a"] + cell["wins_b"] + cell["ties"])
    assert any(row["ties"] for row in leaderboard)


def test_repetitions_of_two_threads_are_not_crossed_with_each_other() -> None:
    """Three repetitions of the same two threads are three pairs with two orders each, never nine."""
    session = SessionFactory(threads=1, samples_per_pillar=1, repetitions_per_pair=3)
    swap = judge_all(session, lambda comparison: "A" if comparison.pair.repetition < 3 else "TIE").position_swap
    assert swap is not None
    assert (swap["pairs"], swap["primacy"], swap["consistent_ties"]) == (3, 2, 1)


def test_one_flip_is_no_bias() -> None:
    session = SessionFactory(threads=1, samples_per_pillar=1)
    swap = judge_all(session, lambda comparison: "A").position_swap
    assert swap is not None
    assert (swap["pairs"], swap["primacy"], swap["dominant_bias"]) == (1, 1, "balanced")


def test_a_thread_in_two_pillars_is_rated_once_and_never_meets_itself() -> None:
    session = SessionFactory(threads=2, samples_per_pillar=2)
    first, second = session.pillars.order_by("number")
    shared = first.threads.order_by("pk").first()
    assert isinstance(shared, EmailThread)
    second.threads.add(shared)
    session = SessionFactory(owner=session.owner, threads=2, samples_per_pillar=3, repetitions_per_pair=3)
    results = judge_all(session, in_turn)
    assert all(pair.thread_a_id != pair.thread_b_id for pair in session.pairs.all())
    threads = [row["thread_id"] for row in results.leaderboard]
    assert len(threads) == len(set(threads))
    assert shared.pk in threads


def test_numbers_come_from_the_verdicts_and_from_nothing_that_was_stored_before(session: JudgeSession) -> None:
    right = judge_all(session, in_turn)
    session.pillar_statistics.update(wins_a=99)
    session.elo_scores.update(elo_score=9999.0)
    refresh_results(session.pk)
    session.refresh_from_db()
    assert session_results(session) == right
    assert session.pillar_statistics.get().wins_a < 99
    assert not session.elo_scores.filter(elo_score=9999.0).exists()
