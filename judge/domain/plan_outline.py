"""How large a plan is and how evenly it uses the threads, without writing it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from judge.domain.pillar_sample import drawn_pairs
from judge.domain.plan_config import WITHIN_PILLARS, PlanConfig, PlanError, pools
from judge.domain.sampling import Pools, pairs_wanted
from judge.domain.states import ComparisonMode
from judge.domain.tournament import grouped, meets_itself


@dataclass(frozen=True)
class PlanOutline:
    """Size and use of threads of a plan.

    `base_comparisons` is without, `comparisons` with the position swap, both over all judges. `pools` are the threads
    of each pillar that take part, `uses` says of each of them in how many pairs it is, `used` of each pillar how many
    of its threads are in at least one, for whatever pillar. These are exact, except in adaptive mode, which chooses as
    it goes: there `pairs` is how many it may have at most, `uses` the mean for that many.

    Where `is_complete` is false counting was cut short: `pairs` is one above the limit, the rest a lower bound.
    """

    pairs: int
    base_comparisons: int
    comparisons: int
    pools: dict[int, list[int]]
    uses: Mapping[int, float]
    used: dict[int, int]
    is_complete: bool = True


def outline(config: PlanConfig, pillars: Mapping[int, Sequence[int]], most_pairs: int | None = None) -> PlanOutline:
    """The outline of exactly what plan_pairs plans for `pillars` (number -> thread ids).

    Tournaments and adaptive plans are computed whatever their size; a pillar_sample is drawn, and with `most_pairs`
    only until it is certain to have more pairs. Raises PlanError as plan_pairs does, no_pairs at once.
    """
    config.validate(pillars)
    taking_part = pools(config, pillars)
    if config.comparison_mode == ComparisonMode.PILLAR_SAMPLE:
        return _of_sample(config, taking_part, most_pairs)
    if config.comparison_mode == ComparisonMode.ADAPTIVE:
        return _of_adaptive(config, taking_part)
    uses = _meetings(config, taking_part)
    return _outline(config, taking_part, uses, _used(taking_part, uses), sum(uses.values()) // 2)


def _meetings(config: PlanConfig, taking_part: Pools) -> dict[int, int]:
    """How often each thread of a tournament meets another: every thread that it may meet, in each repetition."""
    groups = grouped(taking_part)
    others = sum(map(len, groups.values()))
    within = config.comparison_mode in WITHIN_PILLARS
    return {
        thread: (others - 1 if meets_itself(members, within) else others - len(threads)) * config.repetitions_per_pair
        for members, threads in groups.items()
        for thread in threads
    }


def _of_adaptive(config: PlanConfig, taking_part: dict[int, list[int]]) -> PlanOutline:
    threads = set().union(*taking_part.values())
    possible = len(threads) * (len(threads) - 1) // 2 * config.repetitions_per_pair
    pairs = min((config.comparison_budget or 0) // config.comparisons_per_pair, possible)
    uses = dict.fromkeys(sorted(threads), 2 * pairs / len(threads))
    # Its first pairs are a matching, so that no thread is used a second time while one is unused.
    used = {pillar: min(len(pool), len(pool) * 2 * pairs // len(threads)) for pillar, pool in taking_part.items()}
    return _outline(config, taking_part, uses, used, pairs)


def _of_sample(config: PlanConfig, taking_part: dict[int, list[int]], most_pairs: int | None) -> PlanOutline:
    uses: Counter[int] = Counter({thread: 0 for pool in taking_part.values() for thread in pool})
    certain = _certain_pairs(config, taking_part)
    pairs, is_complete = 0, True
    for drawn in drawn_pairs(config, taking_part):
        for matched in drawn.values():
            pairs += len(matched)
            uses.update(chain.from_iterable(matched))
        if most_pairs is not None and max(pairs, certain) > most_pairs:
            pairs, is_complete = most_pairs + 1, False
            break
    return _outline(config, taking_part, uses, _used(taking_part, uses), pairs, is_complete)


def _certain_pairs(config: PlanConfig, taking_part: Pools) -> int:
    """How many pairs the whole pillar_sample has at least: all that are wanted where no two pillars share a thread."""
    if len(set().union(*taking_part.values())) < sum(map(len, taking_part.values())):
        return 0
    wanted = pairs_wanted(config.sampling_strategy, config.samples_per_pillar, taking_part)
    return sum(wanted.values()) * config.repetitions_per_pair


def _used(taking_part: Pools, uses: Mapping[int, int]) -> dict[int, int]:
    return {pillar: sum(uses[thread] > 0 for thread in pool) for pillar, pool in taking_part.items()}


def _outline(
    config: PlanConfig,
    taking_part: dict[int, list[int]],
    uses: Mapping[int, float],
    used: dict[int, int],
    pairs: int,
    is_complete: bool = True,
) -> PlanOutline:
    if pairs == 0:
        raise PlanError("no_pairs", "pillar_ids")
    return PlanOutline(
        pairs=pairs,
        base_comparisons=pairs * config.judge_count,
        comparisons=pairs * config.comparisons_per_pair,
        pools=taking_part,
        uses=uses,
        used=used,
        is_complete=is_complete,
    )
