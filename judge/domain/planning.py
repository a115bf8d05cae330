"""The plan of a session: which threads meet, in which order and slot, and how many comparisons that makes.

Same seed and configuration give the same plan, whatever order the input came in.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any, Final, Literal

from judge.domain.errors import DomainError
from judge.domain.sampling import STRATEGIES, PillarPair, match_one_to_one, shuffled, stream
from judge.domain.states import ComparisonMode, SamplingStrategy

MAX_SEED: Final = 2**63 - 1
MAX_JUDGES: Final = 3
_BLOCK: Final = 4  # pairs whose first orders stand together before their swap twins follow


class PlanError(DomainError):
    """A configuration that cannot be planned.

    Codes: invalid, not_available, too_few_pillars, pillar_empty, no_pairs. `field` is the configuration's field,
    `params` what a message needs (minimum, maximum, value, pillar ...).
    """

    def __init__(self, code: str, field: str, **params: Any) -> None:
        super().__init__(code, f"{field}: {code}")
        self.field = field
        self.params: dict[str, Any] = params


@dataclass(frozen=True)
class PlanConfig:
    """What of a session's configuration decides its plan."""

    comparison_mode: ComparisonMode
    sampling_strategy: SamplingStrategy
    samples_per_pillar: int
    repetitions_per_pair: int
    max_threads_per_pillar: int | None
    position_swap: bool
    judge_count: int
    seed: int

    @property
    def comparisons_per_pair(self) -> int:
        """How often each pair is presented: judges times orders."""
        return self.judge_count * (2 if self.position_swap else 1)

    def validate(self, pillars: Mapping[int, Sequence[int]] | None = None) -> None:
        """Raise PlanError for what cannot be planned; with `pillars` (number -> thread ids) those are checked too."""
        _check_range("samples_per_pillar", self.samples_per_pillar, 1, None)
        _check_range("repetitions_per_pair", self.repetitions_per_pair, 1, None)
        if self.max_threads_per_pillar is not None:
            _check_range("max_threads_per_pillar", self.max_threads_per_pillar, 1, None)
        _check_range("judge_count", self.judge_count, 1, MAX_JUDGES)
        _check_range("seed", self.seed, 0, MAX_SEED)
        if self.comparison_mode != ComparisonMode.PILLAR_SAMPLE:
            raise PlanError("not_available", "comparison_mode", value=str(self.comparison_mode))
        if self.sampling_strategy not in STRATEGIES:
            raise PlanError("not_available", "sampling_strategy", value=str(self.sampling_strategy))
        if pillars is None:
            return
        if len(pillars) < 2:
            raise PlanError("too_few_pillars", "pillar_ids", minimum=2, value=len(pillars))
        for pillar in sorted(pillars):
            if not pillars[pillar]:
                raise PlanError("pillar_empty", "pillar_ids", pillar=pillar)


@dataclass(frozen=True)
class PlannedPair:
    """Two threads to be compared. In position order 1 `thread_a` is shown first. `queue_order` counts from 0 over the
    whole plan, `repetition` from 1; `pillar_a` and `pillar_b` are the pillars the threads were drawn from."""

    queue_order: int
    repetition: int
    thread_a: int
    thread_b: int
    pillar_a: int
    pillar_b: int


@dataclass(frozen=True)
class PlannedComparison:
    """One presentation of the pair with `queue_order == pair_index` to one judge (from 0), order 1 or 2."""

    pair_index: int
    judge_index: int
    position_order: Literal[1, 2]
    queue_position: int


@dataclass(frozen=True)
class PlanCounts:
    """Size of a plan. `base_comparisons` is without, `comparisons` with the position swap, both over all judges."""

    pairs: int
    base_comparisons: int
    comparisons: int


def plan_pairs(config: PlanConfig, pillars: Mapping[int, Sequence[int]]) -> Iterator[PlannedPair]:
    """The pairs of the session in queue order, for `pillars` as pillar number -> ids of its threads.

    Per pillar pair and repetition min(samples, size a, size b) pairs, one to one; fewer only where pillars share so
    many threads that no such matching exists. No thread meets itself, and no two threads meet twice in one repetition.
    Repetitions follow one another; within one, all pillar pairs advance at the same rate. Raises PlanError at once,
    except no_pairs, which comes when the iterator turns out to be empty.
    """
    config.validate(pillars)
    pools = {pillar: _pool(config, pillar, pillars[pillar]) for pillar in sorted(pillars)}
    return _pillar_sample(config, pools)


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


def count(config: PlanConfig, pillars: Mapping[int, Sequence[int]], most_pairs: int | None = None) -> PlanCounts:
    """How large the plan is, by planning it. Raises PlanError as plan_pairs.

    With `most_pairs` counting ends one pair above it: the plan is too large, and how much so would take too long.
    """
    stop = None if most_pairs is None else most_pairs + 1
    pairs = sum(1 for _ in islice(plan_pairs(config, pillars), stop))
    return PlanCounts(
        pairs=pairs, base_comparisons=pairs * config.judge_count, comparisons=pairs * config.comparisons_per_pair
    )


def _check_range(field: str, value: int, minimum: int, maximum: int | None) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < minimum or (maximum is not None and value > maximum):
        raise PlanError("invalid", field, minimum=minimum, maximum=maximum, value=value)


def _pool(config: PlanConfig, pillar: int, threads: Sequence[int]) -> list[int]:
    """The threads of a pillar that take part: all, or as many as allowed, drawn once for the session."""
    pool = sorted(set(threads))
    limit = config.max_threads_per_pillar
    if limit is None or limit >= len(pool):
        return pool
    return sorted(shuffled(pool, stream(config.seed, "pool", pillar))[:limit])


def _pillar_sample(config: PlanConfig, pools: dict[int, list[int]]) -> Iterator[PlannedPair]:
    draw = STRATEGIES[config.sampling_strategy](config.seed, pools)
    first_slots: dict[PillarPair, int] = {}
    queue_order = 0
    for repetition in range(1, config.repetitions_per_pair + 1):
        met: set[frozenset[int]] = set()
        blocks: dict[PillarPair, list[tuple[int, int]]] = {}
        for pair in combinations(pools, 2):
            left, right = (draw.order(pair, pillar, repetition) for pillar in pair)
            size = min(config.samples_per_pillar, len(left), len(right))
            # The deck's order must not decide who meets whom, only who takes part.
            right[:size] = shuffled(right[:size], stream(config.seed, "match", *pair, repetition))
            matched = _match(left, right, size, met)
            met.update(frozenset(threads) for threads in matched)
            draw.used(pair, pair[0], [a for a, _ in matched])
            draw.used(pair, pair[1], [b for _, b in matched])
            blocks[pair] = matched
        flips = {pair: _flips(config.seed, pair, repetition, len(blocks[pair]), first_slots) for pair in blocks}
        for pair, index in _interleaved(config.seed, repetition, blocks):
            sides = list(zip(blocks[pair][index], pair, strict=True))
            (thread_a, pillar_a), (thread_b, pillar_b) = reversed(sides) if flips[pair][index] else sides
            yield PlannedPair(queue_order, repetition, thread_a, thread_b, pillar_a, pillar_b)
            queue_order += 1
    if queue_order == 0:
        raise PlanError("no_pairs", "pillar_ids")


def _match(left: list[int], right: list[int], size: int, met: set[frozenset[int]]) -> list[tuple[int, int]]:
    """One-to-one pairs of threads that have not met in this repetition. Where two pillars share threads, x-y and y-x
    would be the same meeting: the second is barred and the matching made again."""
    barred: set[tuple[int, int]] = set()

    def may_meet(a: int, b: int) -> bool:
        return a != b and (a, b) not in barred and frozenset((a, b)) not in met

    while True:
        matched = match_one_to_one(left, right, size, may_meet)
        chosen = set(matched)
        mirrored = {(a, b) for a, b in matched if a > b and (b, a) in chosen}
        if not mirrored:
            return matched
        barred |= mirrored


def _flips(seed: int, pair: PillarPair, repetition: int, size: int, first_slots: dict[PillarPair, int]) -> list[bool]:
    """For each match of a pillar pair whether the second pillar takes slot A: half of them, drawn by the seed, the odd
    one going to the pillar that had it less often. `first_slots` keeps that balance (second minus first pillar)."""
    random = stream(seed, "slots", *pair, repetition)
    balance = first_slots.get(pair, 0)
    odd_to_second = random.random() < 0.5 if balance == 0 else balance < 0
    flipped = size // 2 + (size % 2 if odd_to_second else 0)
    first_slots[pair] = balance + flipped - (size - flipped)
    return shuffled([True] * flipped + [False] * (size - flipped), random)


def _interleaved(
    seed: int, repetition: int, blocks: Mapping[PillarPair, Sequence[object]]
) -> Iterator[tuple[PillarPair, int]]:
    """(pillar pair, index in its block), every block spread evenly over the repetition."""
    turn = {pair: rank for rank, pair in enumerate(shuffled(sorted(blocks), stream(seed, "turn", repetition)))}
    places = [
        ((2 * index + 1) / (2 * len(block)), turn[pair], pair, index)
        for pair, block in blocks.items()
        for index in range(len(block))
    ]
    return ((pair, index) for _, _, pair, index in sorted(places))


def _blocks(pair_count: int) -> Iterator[range]:
    start = 0
    while start < pair_count:
        # A last block of one pair would make its twins neighbours, so it joins the block before.
        end = pair_count if pair_count - start <= _BLOCK + 1 else start + _BLOCK
        yield range(start, end)
        start = end
