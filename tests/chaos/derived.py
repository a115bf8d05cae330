"""Everything derived of a session, read so that two sessions, or before and after, can be compared."""

import time
from typing import Any

from judge.models import JudgeComparison, JudgeSession, PillarStatistics, ResultSnapshot, ThreadEloScore
from judge.selectors.results import OVERVIEW
from tests.chaos.asking import ask

RATINGS = ("thread", "pillar", "elo_score", "elo_low", "elo_high", "matches_played", "wins", "losses", "ties")
STRENGTHS = ("avg_confidence", "bt_score", "bt_low", "bt_high", "bt_flag")
STATISTICS = ("pillar_a", "pillar_b", "wins_a", "wins_b", "ties", "conflicts", "avg_confidence")


def derived_tables(session: JudgeSession) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the derived tables without their ids."""
    ratings = ThreadEloScore.objects.filter(session=session).order_by("thread")
    statistics = PillarStatistics.objects.filter(session=session).order_by("pillar_a", "pillar_b")
    return {
        "ratings": list(ratings.values_list(*RATINGS, *STRENGTHS)),
        "statistics": list(statistics.values_list(*STATISTICS)),
    }


def verdicts_in_plan_order(session: JudgeSession) -> list[tuple[Any, ...]]:
    """Winner and confidence of every comparison, as planned."""
    rows = JudgeComparison.objects.filter(session=session).order_by("queue_position")
    return list(rows.values_list("queue_position", "evaluation__winner", "evaluation__confidence"))


def wait_for_results(session: JudgeSession, seconds: float = 90) -> bool:
    """Wait until the stored results have seen every verdict; False when they do not come."""
    deadline = time.monotonic() + seconds
    wanted = ResultSnapshot.objects.filter(session=session, kind=OVERVIEW, evaluations_seen=session.total_comparisons)
    while not ask(wanted.exists):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True
