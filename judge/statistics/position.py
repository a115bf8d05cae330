"""Position swap: does the judge say the same when the two texts change places, and which place does it favour?"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from judge.statistics.agreement import cohen_kappa
from judge.statistics.distributions import ALPHA, sign_test
from judge.statistics.intervals import Rate, wilson
from judge.statistics.outcomes import Presentation, combine_orders, orders_by_pair, unswap

Consistency = Literal["excellent", "good", "fair", "poor"]
DominantBias = Literal["balanced", "primacy", "recency"]


@dataclass(frozen=True, slots=True)
class PositionSummary:
    """Over `pairs`, the (pair, judge) combinations with both orders in; the slot figures over all verdicts.

    pairs = consistent_wins + consistent_ties + primacy + recency + mixed. `first_slot` is the share of decisive
    verdicts won by the text shown first. What has nothing to be computed from is None.
    """

    pairs: int
    consistent_wins: int
    consistent_ties: int
    primacy: int
    recency: int
    mixed: int
    consistency: Rate | None
    consistency_label: Consistency | None
    first_slot_wins: int
    second_slot_wins: int
    tie_verdicts: int
    first_slot: Rate | None
    sign_test_p: float | None
    dominant_bias: DominantBias
    kappa: float | None

    @property
    def inconsistent(self) -> int:
        """Pairs whose two orders disagree."""
        return self.primacy + self.recency + self.mixed

    @property
    def consistency_rate(self) -> float | None:
        """(consistent wins + consistent ties) / pairs, 0 to 1."""
        return self.consistency.value if self.consistency else None


def position_summary(presentations: Iterable[Presentation]) -> PositionSummary:
    """Summarise what swapping the texts does. Raises ValueError for contradictory input (see `orders_by_pair`).

    The sign test is exact, two-sided, primacy against recency; the bias is "balanced" unless it says p < .05.
    Kappa is Cohen's between the verdicts of order 1 and of order 2, by thread.
    """
    grouped = orders_by_pair(presentations)
    slots = Counter(winner for orders in grouped.values() for winner in orders.values())
    both = [(orders[1], orders[2]) for orders in grouped.values() if len(orders) == 2]
    kinds = Counter(conflict or result for result, conflict in (combine_orders(*pair) for pair in both))
    primacy, recency = kinds["primacy"], kinds["recency"]
    wins, ties, pairs = kinds["a"] + kinds["b"], kinds["tie"], len(both)
    decisive = slots["A"] + slots["B"]
    p_value = sign_test(primacy, recency) if primacy + recency else None
    return PositionSummary(
        pairs=pairs,
        consistent_wins=wins,
        consistent_ties=ties,
        primacy=primacy,
        recency=recency,
        mixed=kinds["mixed"],
        consistency=wilson(wins + ties, pairs) if pairs else None,
        consistency_label=consistency_label((wins + ties) / pairs) if pairs else None,
        first_slot_wins=slots["A"],
        second_slot_wins=slots["B"],
        tie_verdicts=slots["TIE"],
        first_slot=wilson(slots["A"], decisive) if decisive else None,
        sign_test_p=p_value,
        dominant_bias=_dominant_bias(primacy, recency, p_value),
        kappa=cohen_kappa((unswap(first, 1), unswap(second, 2)) for first, second in both),
    )


def consistency_label(rate: float) -> Consistency:
    """>= .8 excellent, >= .6 good, >= .4 fair, else poor."""
    if rate >= 0.8:
        return "excellent"
    if rate >= 0.6:
        return "good"
    return "fair" if rate >= 0.4 else "poor"


def _dominant_bias(primacy: int, recency: int, p_value: float | None) -> DominantBias:
    if p_value is None or p_value >= ALPHA:
        return "balanced"
    return "primacy" if primacy > recency else "recency"
