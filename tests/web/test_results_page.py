"""Results in words and numbers, from the stored snapshot."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judge.models import JudgeSession, ResultSnapshot
from judge.services.results import refresh_results
from tests.factories import SessionFactory, judged
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db


def page_of(reader: Client, session: JudgeSession) -> str:
    return reader.get(f"/judge/session/{session.pk}/results/").content.decode()


def judge_all(session: JudgeSession, winning_pillar: int = 1) -> None:
    """Both orders of every pair are won by the same pillar."""
    for comparison in session.comparisons.filter(status="pending"):
        comparison.session = session
        judged(comparison, "A" if comparison.pillar_first.number == winning_pillar else "B")


def test_before_the_first_snapshot_the_page_says_so(session: JudgeSession, reader: Client) -> None:
    page = page_of(reader, session)
    assert "No results yet" in page
    assert "<table" not in page


def test_a_running_session_shows_partial_results_and_asks_again(session: JudgeSession, reader: Client) -> None:
    refresh_results(session.pk)
    page = page_of(reader, session)
    assert "Partial:" in page
    assert 'hx-trigger="every 5s"' in page
    part = reader.get(f"/judge/session/{session.pk}/results/", headers={"hx-request": "true"}).content.decode()
    assert part.startswith('<div id="results"')


def test_a_finished_session_names_the_first_pillar_and_stops_asking(owner: User, reader: Client) -> None:
    session = SessionFactory(owner=owner)
    judge_all(session)
    JudgeSession.objects.filter(pk=session.pk).update(status="completed")
    refresh_results(session.pk)
    page = page_of(reader, session)
    pillar = session.pillars.get(number=1)
    assert f"Pillar 1, {pillar.label}, comes first: of 3 pairs it won 3 and tied 0" in page
    assert "100% of 3 pairs kept their verdict; this consistency is excellent" in page
    assert "Partial" not in page
    assert "every 5s" not in page
    assert page.count("<svg") >= 8  # two pillars, two cells, six threads, each with its interval drawn


def test_a_finished_session_with_a_failure_is_not_called_unfinished(owner: User, reader: Client) -> None:
    session = SessionFactory(owner=owner)
    failed = session.comparisons.first()
    session.comparisons.filter(pk=failed.pk).update(status="failed", error_code="refused")
    judge_all(session)
    JudgeSession.objects.filter(pk=session.pk).update(status="completed", failed_comparisons=1)
    refresh_results(session.pk)
    page = page_of(reader, session)
    assert "2 of 3 pairs are complete and counted." in page
    assert "1 comparison failed and counts nowhere." in page
    assert "Partial" not in page
    assert "may still change" not in page


def snapshot(session: JudgeSession, **changes: Any) -> None:
    def pillar(number: int, rate: float) -> dict[str, Any]:
        counts = {"wins": 6, "losses": 2, "ties": 2, "n": 10}
        return {
            "rank": number,
            "number": number,
            "name": "x",
            "name_de": "x",
            "color": "red",
            **counts,
            "win_rate": 0.6,
            "score_rate": rate,
            "low": 0.4,
            "high": 0.9,
            "avg_elo": 1510.0,
            "thread_count": 3,
        }

    cell = {"pillar_a": 1, "pillar_b": 2, "wins_a": 6, "wins_b": 2, "ties": 2, "conflicts": 1, "n": 10}
    cell |= {"win_rate_a": 0.6, "score_rate_a": 0.7, "low": 0.4, "high": 0.9, "clear": False}
    payload: dict[str, Any] = {
        "pairs_total": 10,
        "pairs_complete": 10,
        "pillars": [pillar(1, 0.7), pillar(2, 0.3)],
        "matrix": [cell],
        "leaderboard": [],
        "position_swap": None,
    }
    ResultSnapshot.objects.create(session=session, kind="overview", evaluations_seen=20, payload=payload | changes)


def test_the_matrix_shows_the_other_side_turned_round(session: JudgeSession, reader: Client) -> None:
    snapshot(session)
    page = page_of(reader, session)
    matrix = page[page.index('id="matrix-heading"') :]
    assert "70%" in matrix
    assert "30%" in matrix
    assert "n = 10 · 6/2/2" in matrix
    assert "n = 10 · 2/6/2" in matrix
    assert matrix.count("no clear difference") == 2


def test_an_unclear_difference_is_never_called_better(session: JudgeSession, reader: Client) -> None:
    snapshot(session)
    page = page_of(reader, session)
    assert "There is no clear difference between it and pillar 2" in page
    assert "clearly better" not in page


@pytest.mark.parametrize(("bias", "words"), [("primacy", "reads first"), ("recency", "reads last"), ("balanced", "")])
def test_position_bias_is_named_only_where_the_test_says_so(
    bias: str, words: str, session: JudgeSession, reader: Client
) -> None:
    swap = {"pairs": 10, "consistent_wins": 4, "consistent_ties": 0, "primacy": 5, "recency": 1, "mixed": 0}
    swap |= {"consistency_rate": 0.4, "label": "fair", "dominant_bias": bias, "p_value": 0.031}
    snapshot(session, position_swap=swap)
    page = page_of(reader, session)
    assert "this consistency is fair" in page
    assert ("The judge prefers" in page) is bool(words)
    assert words in page


def test_no_complete_pair_gives_no_ranking_in_words(session: JudgeSession, reader: Client) -> None:
    empty = {"n": 0, "wins": 0, "losses": 0, "ties": 0, "score_rate": None, "low": None, "high": None, "avg_elo": None}
    pillars = [{"rank": n, "number": n, **empty} for n in (1, 2)]
    snapshot(session, pillars=pillars, matrix=[], pairs_complete=0)
    page = page_of(reader, session)
    assert "nothing can be said about the pillars" in page
    assert "comes first" not in page


def test_numbers_follow_the_language_and_drawings_do_not(session: JudgeSession) -> None:
    snapshot(session)
    page = page_of(browser_of(session.owner, "de"), session)
    assert "70\u00a0%" in page
    assert 'x1="700"' in page
