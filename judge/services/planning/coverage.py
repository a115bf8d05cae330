"""How much of each pillar a plan compares, and what it would take to compare enough of it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from judge.domain.plan_config import MAX_REPETITIONS
from judge.domain.plan_outline import PlanOutline, outline
from judge.domain.planning import PlanConfig
from pillars.models import Pillar

# The goal is more than half of a pillar of up to so many threads, and more than a fifth of a larger one.
SMALL_PILLAR: Final = 60
GOAL_SMALL: Final = 0.5
GOAL_LARGE: Final = 0.2
# Pairs of the largest plan that a recommendation plans to see what it covers, and how many of them it tries.
MOST_PAIRS: Final = 5_000
MOST_TRIES: Final = 6


@dataclass(frozen=True)
class PillarShare:
    """A pillar in a plan: all its threads, those that may take part, those that are compared; rates are 0-1."""

    number: int
    name: str
    colour: str
    threads: int
    taking_part: int
    used: int
    coverage: float
    goal: float

    @property
    def reaches_goal(self) -> bool:
        """Whether more of the pillar is compared than the goal says."""
        return self.coverage > self.goal


def pillar_shares(pillars: list[Pillar], threads: Mapping[int, list[int]], outlined: PlanOutline) -> list[PillarShare]:
    """The share of every pillar in a plan, by pillar number; names are in the reader's language."""
    return [
        PillarShare(
            number=pillar.number,
            name=pillar.label,
            colour=pillar.color,
            threads=len(threads[pillar.number]),
            taking_part=len(outlined.pools[pillar.number]),
            used=outlined.used[pillar.number],
            coverage=outlined.used[pillar.number] / len(threads[pillar.number]),
            goal=goal(len(threads[pillar.number])),
        )
        for pillar in pillars
    ]


def goal(threads: int) -> float:
    """The share (0-1) of a pillar of so many threads that should be compared; it is reached by more than that."""
    return GOAL_SMALL if threads <= SMALL_PILLAR else GOAL_LARGE


def needed(threads: int) -> int:
    """How many threads of a pillar must be compared to reach the goal."""
    return math.floor(goal(threads) * threads) + 1


def repetitions_to_cover(plan: PlanConfig, threads: Mapping[int, list[int]], pillars: list[int]) -> int | None:
    """The repetitions with which a pillar sample compares enough of these pillars, found by planning.

    None: no number of repetitions does it within a plan of reasonable size, as where too few threads may take part.
    Raises PlanError for pillars of which no sample can be drawn.
    """
    repetitions = 1
    for _ in range(MOST_TRIES):
        if repetitions > MAX_REPETITIONS:
            return None
        tried = outline(replace(plan, repetitions_per_pair=repetitions), threads, most_pairs=MOST_PAIRS)
        if not tried.is_complete:
            return None
        missing = [number for number in pillars if tried.used[number] < needed(len(threads[number]))]
        if not missing:
            return repetitions
        if any(len(tried.pools[number]) < needed(len(threads[number])) for number in missing):
            return None
        ratio = max(needed(len(threads[number])) / max(1, tried.used[number]) for number in missing)
        repetitions = max(repetitions + 1, math.ceil(repetitions * ratio))
    return None
