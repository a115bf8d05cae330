"""The plan of a session: which threads meet, in which order and slot, and how many comparisons that makes.

Same seed and configuration give the same plan, whatever order the input came in.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal

from judge.domain.pillar_sample import pillar_sample
from judge.domain.plan_config import (
    MAX_JUDGES,
    MAX_SEED,
    WITHIN_PILLARS,
    PlanConfig,
    PlanError,
    PlannedPair,
    pools,
)
from judge.domain.states import ComparisonMode
from judge.domain.tournament import tournament

__all__ = [
    "MAX_JUDGES",
    "MAX_SEED",
    "PlanConfig",
    "PlanError",
    "PlannedComparison",
    "PlannedPair",
    "plan_comparisons",
    "plan_pairs",
    "pools",
]

_BLOCK: Final = 4  # pairs whose first orders stand together before their swap twins follow


@dataclass(frozen=True)
class PlannedComparison:
    """One presentation of the pair with `queue_order == pair_index` to one judge (from 0), order 1 or 2."""

    pair_index: int
    judge_index: int
    position_order: Literal[1, 2]
    queue_position: int


def plan_pairs(config: PlanConfig, pillars: Mapping[int, Sequence[int]]) -> Iterator[PlannedPair]:
    """The pairs of the session in queue order, for `pillars` as pillar number -> ids of its threads.

    No thread meets itself, and no two threads meet twice in one repetition. Repetitions follow one another; within one,
    all pillar pairs advance at the same rate (judge.domain.interleaving).

    - pillar_sample: per pillar pair and repetition as many pairs as the samples, the strategy and the smaller pillar
      allow; fewer only where pillars share so many threads that there are no more.
    - round_robin: in each repetition every two threads that are not both of one and the same pillar alone.
    - free_for_all: in each repetition every two threads, those of one pillar too.

    A repetition is planned when it is reached, and of a tournament only the threads are kept in memory. Raises
    PlanError at once, and ValueError for the adaptive mode, whose plan depends on the verdicts.
    """
    config.validate(pillars)
    if config.comparison_mode == ComparisonMode.ADAPTIVE:
        raise ValueError("an adaptive session has no plan beforehand")
    taking_part = pools(config, pillars)
    if config.comparison_mode == ComparisonMode.PILLAR_SAMPLE:
        pairs = pillar_sample(config, taking_part)
    else:
        within_pillars = config.comparison_mode in WITHIN_PILLARS
        pairs = tournament(config.seed, taking_part, config.repetitions_per_pair, within_pillars)
    return _not_empty(pairs)


def plan_comparisons(config: PlanConfig, pair_count: int) -> Iterator[PlannedComparison]:
    """The comparisons of `pair_count` pairs in queue order, each judge and, with position swap, both orders.

    The first orders of a few pairs stand together and their swap twins follow, so that twins are near, but never
    neighbours unless there is only one pair and one judge.
    """
    config.validate()
    if config.position_swap:
        slots = (
            (pair, judge, order)
            for block in _blocks(pair_count)
            for order in (1, 2)
            for pair in block
            for judge in range(config.judge_count)
        )
    else:
        slots = ((pair, judge, 1) for pair in range(pair_count) for judge in range(config.judge_count))
    return (
        PlannedComparison(pair, judge, 1 if order == 1 else 2, position)
        for position, (pair, judge, order) in enumerate(slots)
    )


def _not_empty(pairs: Iterator[PlannedPair]) -> Iterator[PlannedPair]:
    first = next(pairs, None)
    if first is None:
        raise PlanError("no_pairs", "pillar_ids")
    return chain([first], pairs)


def _blocks(pair_count: int) -> Iterator[range]:
    start = 0
    while start < pair_count:
        # A last block of one pair would make its twins neighbours, so it joins the block before.
        end = pair_count if pair_count - start <= _BLOCK + 1 else start + _BLOCK
        yield range(start, end)
        start = end
