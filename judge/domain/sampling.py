"""Which threads a pillar_sample session compares: the strategies that draw them, and how many pairs each draws.

Every random stream is named by the seed and by what it is for, so that one draw never shifts another. Only
`Random.random()` is used: its sequence, unlike that of `shuffle` and `sample`, is promised to stay the same in later
versions of Python.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations, product
from random import Random
from typing import Protocol, TypeVar

from judge.domain.matching import match_one_to_one
from judge.domain.states import SamplingStrategy

T = TypeVar("T")
PillarPair = tuple[int, int]
Pools = Mapping[int, Sequence[int]]  # pillar -> threads that take part
Met = set[frozenset[int]]  # the pairs of threads that a repetition has already

_REDRAWS = 20  # tries for a pair that is new before all pairs are looked through


def stream(seed: int, *purpose: object) -> Random:
    """A random stream of its own for one purpose under one seed."""
    return Random("/".join(map(str, (seed, *purpose))))


def shuffled(items: Sequence[T], random: Random) -> list[T]:
    """The items in random order. Their given order matters, so sort first what has no order of its own."""
    keys = [random.random() for _ in items]
    return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]


def pairs_wanted(strategy: SamplingStrategy, samples: int, pools: Pools) -> dict[PillarPair, int]:
    """How many pairs each two pillars get in one repetition: never more than the smaller of them has threads.

    As many as `samples`; for proportional that is the mean, and two pillars get as many more or fewer as they have
    threads (halves rounded up), but at least one.
    """
    total = sum(map(len, pools.values()))
    wanted = {}
    for pair in combinations(sorted(pools), 2):
        sizes = [len(pools[pillar]) for pillar in pair]
        share = samples
        if strategy == SamplingStrategy.PROPORTIONAL:
            share = max(1, (samples * sum(sizes) * len(pools) + total) // (2 * total))
        wanted[pair] = min(share, *sizes)
    return wanted


class Draw(Protocol):
    """A sampling strategy at work on one session."""

    def pairs(self, pair: PillarPair, repetition: int, size: int, met: Met) -> list[tuple[int, int]]:
        """The pairs of threads of two pillars in one repetition, the first pillar's thread in front.

        `size` of them, none of a thread with itself and none that is in `met` or comes twice; fewer only where there
        are no more such pairs. Pillars are to be asked for in the order of the plan.
        """


class MatchingDraw:
    """Draws the threads of both pillars and matches them one to one: in a meeting of two pillars none comes twice."""

    def __init__(self, seed: int, pools: Pools) -> None:
        self._seed = seed
        self._pools = pools

    def pairs(self, pair: PillarPair, repetition: int, size: int, met: Met) -> list[tuple[int, int]]:
        """See Draw."""
        left, right = (self._order(pair, pillar, repetition) for pillar in pair)
        # The deck's order must not decide who meets whom, only who takes part.
        right[:size] = shuffled(right[:size], stream(self._seed, "match", *pair, repetition))
        matched = _match(left, right, size, met)
        self._used(pair, pair[0], [a for a, _ in matched])
        self._used(pair, pair[1], [b for _, b in matched])
        return matched

    def _order(self, pair: PillarPair, pillar: int, repetition: int) -> list[int]:
        """All threads of `pillar`, those to be used first in front: here a fresh draw every time."""
        return shuffled(self._pools[pillar], stream(self._seed, "fixed", *pair, pillar, repetition))

    def _used(self, pair: PillarPair, pillar: int, threads: Sequence[int]) -> None:
        """Take note of the threads that were really used."""


class RotatingDraw(MatchingDraw):
    """One shuffled deck per pillar that goes on over pillar pairs and repetitions and is shuffled anew when it is used
    up: no thread is used a second time while one of its pillar is unused. Among equally used threads those come first
    that this pillar pair has used least."""

    def __init__(self, seed: int, pools: Pools) -> None:
        super().__init__(seed, pools)
        self._uses = {pillar: dict.fromkeys(pool, 0) for pillar, pool in pools.items()}
        self._uses_in_pair: dict[tuple[PillarPair, int], dict[int, int]] = {}
        self._decks: dict[int, dict[int, list[int]]] = {pillar: {} for pillar in pools}

    def _order(self, pair: PillarPair, pillar: int, repetition: int) -> list[int]:
        uses, in_pair = self._uses[pillar], self._in_pair(pair, pillar)
        # Decks are kept for as long as a thread is still in them.
        decks = {cycle: self._deck(pillar, cycle) for cycle in sorted(set(uses.values()))}
        self._decks[pillar] = decks
        return list(
            chain.from_iterable(
                sorted((thread for thread in deck if uses[thread] == cycle), key=in_pair.__getitem__)
                for cycle, deck in decks.items()
            )
        )

    def _used(self, pair: PillarPair, pillar: int, threads: Sequence[int]) -> None:
        for counts in (self._uses[pillar], self._in_pair(pair, pillar)):
            for thread in threads:
                counts[thread] += 1

    def _in_pair(self, pair: PillarPair, pillar: int) -> dict[int, int]:
        if (pair, pillar) not in self._uses_in_pair:
            self._uses_in_pair[pair, pillar] = dict.fromkeys(self._pools[pillar], 0)
        return self._uses_in_pair[pair, pillar]

    def _deck(self, pillar: int, cycle: int) -> list[int]:
        """The threads of a pillar in the order of their next use, for those that were used `cycle` times."""
        deck = self._decks[pillar].get(cycle)
        return deck or shuffled(self._pools[pillar], stream(self._seed, "deck", pillar, cycle))


class BootstrapDraw:
    """Both threads of every pair are drawn afresh, with replacement: a thread may come more than once in a meeting of
    two pillars, as in the resamples from which a bootstrap takes its intervals, but no pair of threads does."""

    def __init__(self, seed: int, pools: Pools) -> None:
        self._seed = seed
        self._pools = pools

    def pairs(self, pair: PillarPair, repetition: int, size: int, met: Met) -> list[tuple[int, int]]:
        """See Draw."""
        random = stream(self._seed, "bootstrap", *pair, repetition)
        left, right = (self._pools[pillar] for pillar in pair)
        taken = set(met)
        drawn: list[tuple[int, int]] = []
        while len(drawn) < size:
            found = _redrawn(left, right, taken, random) or _looked_for(left, right, taken, random)
            if found is None:
                break
            taken.add(frozenset(found))
            drawn.append(found)
        return drawn


STRATEGIES: dict[SamplingStrategy, type[MatchingDraw] | type[BootstrapDraw]] = {
    SamplingStrategy.FIXED: MatchingDraw,
    SamplingStrategy.ROTATING: RotatingDraw,
    SamplingStrategy.BOOTSTRAP: BootstrapDraw,
    SamplingStrategy.PROPORTIONAL: RotatingDraw,
}


def _match(left: list[int], right: list[int], size: int, met: Met) -> list[tuple[int, int]]:
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


def _redrawn(left: Sequence[int], right: Sequence[int], taken: Met, random: Random) -> tuple[int, int] | None:
    for _ in range(_REDRAWS):
        a, b = (side[int(random.random() * len(side))] for side in (left, right))
        if a != b and frozenset((a, b)) not in taken:
            return a, b
    return None


def _looked_for(left: Sequence[int], right: Sequence[int], taken: Met, random: Random) -> tuple[int, int] | None:
    """Any pair that is still possible, from a random order of both sides."""
    tried = product(shuffled(left, random), shuffled(right, random))
    return next(((a, b) for a, b in tried if a != b and frozenset((a, b)) not in taken), None)
