"""What was judged in one session, read once and reduced to pair outcomes: the input of all derived tables."""

from collections import defaultdict
from dataclasses import dataclass
from typing import cast

from judge.domain.states import ComparisonStatus
from judge.models import JudgeComparison, JudgePair, JudgeSession
from judge.statistics.matches import PairSides, PillarMatch, pillar_matches
from judge.statistics.outcomes import PairOutcome, Presentation, Winner, pair_outcomes, read_outcomes


@dataclass(frozen=True)
class Material:
    """What was judged in one session, read once: verdicts, sides of the pairs, outcomes and matches in plan order."""

    session: JudgeSession
    presentations: list[Presentation]
    sides: dict[int, PairSides]
    outcomes: list[PairOutcome]
    matches: list[PillarMatch]
    confidence_of_pair: dict[int, float]


def read_material(session: JudgeSession) -> Material:
    """Read all verdicts of a session (two queries) and reduce them to pair outcomes and matches in plan order."""
    rows = (
        JudgeComparison.objects.filter(session=session, status=ComparisonStatus.COMPLETED)
        .order_by()
        .values_list(
            "pair__queue_order", "judge__position", "position_order", "evaluation__winner", "evaluation__confidence"
        )
    )
    presentations: list[Presentation] = []
    confidences: defaultdict[int, list[float]] = defaultdict(list)
    for pair, judge, order, winner, confidence in rows.iterator(chunk_size=5000):
        presentations.append(Presentation(pair=pair, judge=judge, position_order=order, winner=cast(Winner, winner)))
        confidences[pair].append(confidence)
    sides = _sides(session)
    outcomes = read_outcomes(
        pair_outcomes(presentations, session.orders_expected), "majority", session.session_judges.count()
    )
    return Material(
        session=session,
        presentations=presentations,
        sides=sides,
        outcomes=outcomes,
        matches=pillar_matches(outcomes, sides),
        # Sorted before adding up: the mean must not depend on which worker finished first.
        confidence_of_pair={pair: sum(sorted(values)) / len(values) for pair, values in confidences.items()},
    )


def _sides(session: JudgeSession) -> dict[int, PairSides]:
    rows = JudgePair.objects.filter(session=session).order_by("queue_order")
    columns = ("queue_order", "thread_a", "thread_b", "pillar_a__number", "pillar_b__number")
    return {
        order: PairSides(thread_a=thread_a, thread_b=thread_b, pillar_a=pillar_a, pillar_b=pillar_b)
        for order, thread_a, thread_b, pillar_a, pillar_b in rows.values_list(*columns).iterator(chunk_size=5000)
    }
