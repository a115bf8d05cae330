"""Ratings as the API reads them: leaderboard, pillar aggregates, distributions."""

from dataclasses import dataclass
from statistics import fmean, median, pstdev
from typing import Any

from judge.models import JudgeSession, ThreadEloScore
from judge.selectors.results import SessionResults, session_results


@dataclass(frozen=True)
class EloDistribution:
    """ELO of the rated threads of one pillar, ascending; ``std_dev`` is the population's standard deviation."""

    name: str
    elo_scores: list[float]
    mean: float
    median: float
    std_dev: float
    min: float
    max: float


def elo_distribution(session: JudgeSession) -> dict[str, EloDistribution]:
    """Distribution per pillar number (as text, as JSON has it); pillars without a rated thread are left out."""
    names = {pillar.pk: (str(pillar.number), pillar.label) for pillar in session.pillars.all()}
    scores: dict[int, list[float]] = {}
    rows = ThreadEloScore.objects.filter(session=session).order_by("elo_score")
    for pillar_id, score in rows.values_list("pillar_id", "elo_score"):
        scores.setdefault(pillar_id, []).append(score)
    return {
        number: EloDistribution(name, found, fmean(found), median(found), pstdev(found), found[0], found[-1])
        for pillar_id, (number, name) in names.items()
        if (found := scores.get(pillar_id))
    }


def results_or_empty(session: JudgeSession) -> SessionResults:
    """The stored results; before the first ones, results in which nothing was counted yet."""
    found = session_results(session)
    if found is not None:
        return found
    return SessionResults(
        evaluations_seen=0,
        evaluations_now=session.completed_comparisons,
        pairs_total=session.pairs.count(),
        pairs_complete=0,
        failed=session.failed_comparisons,
    )


def leaderboard(session: JudgeSession) -> dict[str, Any]:
    """Rated threads, best first, with their pillar's name, and the pillars' aggregates by number (as text)."""
    results = results_or_empty(session)
    names = {pillar.number: pillar.label for pillar in session.pillars.all()}
    return {
        "leaderboard": [row | {"pillar_name": names.get(row["pillar"], "")} for row in results.leaderboard],
        "pillar_aggregates": {
            str(row["number"]): {"avg_elo": row["avg_elo"], "thread_count": row["thread_count"]}
            for row in results.pillars
        },
    }
