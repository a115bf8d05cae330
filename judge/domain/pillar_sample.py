"""The plan of a pillar_sample session: the drawn pairs of each two pillars, and their order in the queue."""

from collections.abc import Iterator

from judge.domain.interleaving import interleaved
from judge.domain.plan_config import PlanConfig, PlannedPair
from judge.domain.sampling import STRATEGIES, Met, PillarPair, Pools, pairs_wanted, shuffled, stream

Drawn = dict[PillarPair, list[tuple[int, int]]]


def drawn_pairs(config: PlanConfig, pools: Pools) -> Iterator[Drawn]:
    """For each repetition the pairs of threads by pillar pair, the thread of the lower pillar in front."""
    draw = STRATEGIES[config.sampling_strategy](config.seed, pools)
    wanted = pairs_wanted(config.sampling_strategy, config.samples_per_pillar, pools)
    for repetition in range(1, config.repetitions_per_pair + 1):
        met: Met = set()
        drawn: Drawn = {}
        for pair, size in wanted.items():
            drawn[pair] = draw.pairs(pair, repetition, size, met)
            met.update(map(frozenset, drawn[pair]))
        yield drawn


def pillar_sample(config: PlanConfig, pools: Pools) -> Iterator[PlannedPair]:
    """The pairs of the session in queue order: repetition after repetition, and within one all pillar pairs at the same
    rate. Empty where no two different threads can meet."""
    first_slots: dict[PillarPair, int] = {}
    queue_order = 0
    for repetition, drawn in enumerate(drawn_pairs(config, pools), 1):
        flips = {pair: _flips(config.seed, pair, repetition, len(drawn[pair]), first_slots) for pair in drawn}
        turns = shuffled(sorted(drawn), stream(config.seed, "turn", repetition))
        waiting = [iter(zip(drawn[pair], flips[pair], strict=True)) for pair in turns]
        for group in interleaved([len(drawn[pair]) for pair in turns]):
            threads, flipped = next(waiting[group])
            sides = list(zip(threads, turns[group], strict=True))
            (thread_a, pillar_a), (thread_b, pillar_b) = reversed(sides) if flipped else sides
            yield PlannedPair(queue_order, repetition, thread_a, thread_b, pillar_a, pillar_b)
            queue_order += 1


def _flips(seed: int, pair: PillarPair, repetition: int, size: int, first_slots: dict[PillarPair, int]) -> list[bool]:
    """For each match of a pillar pair whether the second pillar takes slot A: half of them, drawn by the seed, the odd
    one going to the pillar that had it less often. `first_slots` keeps that balance (second minus first pillar)."""
    random = stream(seed, "slots", *pair, repetition)
    balance = first_slots.get(pair, 0)
    odd_to_second = random.random() < 0.5 if balance == 0 else balance < 0
    flipped = size // 2 + (size % 2 if odd_to_second else 0)
    first_slots[pair] = balance + flipped - (size - flipped)
    return shuffled([True] * flipped + [False] * (size - flipped), random)
