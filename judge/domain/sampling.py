"""Drawing threads and matching them one to one: orders, decks that continue, and matchings with forbidden pairs.

Every random stream is named by the seed and by what it is for, so that one draw never shifts another. Only
`Random.random()` is used: its sequence, unlike that of `shuffle` and `sample`, is promised to stay the same in later
versions of Python.
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

from judge.domain.states import SamplingStrategy

T = TypeVar("T")
PillarPair = tuple[int, int]


def stream(seed: int, *purpose: object) -> Random:
    """A random stream of its own for one purpose under one seed."""
    return Random("/".join(map(str, (seed, *purpose))))


def shuffled(items: Sequence[T], random: Random) -> list[T]:
    """The items in random order. Their given order matters, so sort first what has no order of its own."""
    keys = [random.random() for _ in items]
    return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]


class Draw(Protocol):
    """A sampling strategy at work on one session."""

    def order(self, pair: PillarPair, pillar: int, repetition: int) -> list[int]:
        """All threads of `pillar`, those to be used first in front, for its meeting with the other of `pair`."""

    def used(self, pair: PillarPair, pillar: int, threads: Sequence[int]) -> None:
        """Take note of the threads that were really used."""


class FixedDraw:
    """A fresh draw for every pillar pair and repetition."""

    def __init__(self, seed: int, pools: dict[int, list[int]]) -> None:
        self._seed = seed
        self._pools = pools

    def order(self, pair: PillarPair, pillar: int, repetition: int) -> list[int]:
        """See Draw."""
        return shuffled(self._pools[pillar], stream(self._seed, "fixed", *pair, pillar, repetition))

    def used(self, pair: PillarPair, pillar: int, threads: Sequence[int]) -> None:
        """Nothing is remembered."""


class RotatingDraw:
    """One shuffled deck per pillar that goes on over pillar pairs and repetitions and is shuffled anew when it is used
    up: no thread is used a second time while one of its pillar is unused. Among equally used threads those come first
    that this pillar pair has used least."""

    def __init__(self, seed: int, pools: dict[int, list[int]]) -> None:
        self._seed = seed
        self._pools = pools
        self._uses: dict[int, Counter[int]] = {pillar: Counter() for pillar in pools}
        self._uses_in_pair: dict[tuple[PillarPair, int], Counter[int]] = {}
        self._ranks: dict[tuple[int, int], dict[int, int]] = {}

    def order(self, pair: PillarPair, pillar: int, repetition: int) -> list[int]:
        """See Draw."""
        uses = self._uses[pillar]
        in_pair = self._uses_in_pair.setdefault((pair, pillar), Counter())
        return sorted(
            self._pools[pillar],
            key=lambda thread: (uses[thread], in_pair[thread], self._rank(pillar, uses[thread])[thread]),
        )

    def used(self, pair: PillarPair, pillar: int, threads: Sequence[int]) -> None:
        """See Draw."""
        self._uses[pillar].update(threads)
        self._uses_in_pair.setdefault((pair, pillar), Counter()).update(threads)

    def _rank(self, pillar: int, cycle: int) -> dict[int, int]:
        if (pillar, cycle) not in self._ranks:
            deck = shuffled(self._pools[pillar], stream(self._seed, "deck", pillar, cycle))
            self._ranks[pillar, cycle] = {thread: rank for rank, thread in enumerate(deck)}
        return self._ranks[pillar, cycle]


STRATEGIES: dict[SamplingStrategy, Callable[[int, dict[int, list[int]]], Draw]] = {
    SamplingStrategy.FIXED: FixedDraw,
    SamplingStrategy.ROTATING: RotatingDraw,
}


def match_one_to_one(
    left: Sequence[int], right: Sequence[int], size: int, allowed: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """Up to `size` pairs (l, r), each thread at most once on its side, all of them allowed.

    Threads further to the front are preferred. There are fewer than `size` pairs only if no matching of that size
    exists (augmenting paths: Kuhn 1955, Berge 1957).
    """
    direct = list(zip(left[:size], right[:size], strict=False))
    if len(direct) == size and all(allowed(a, b) for a, b in direct):
        return direct
    owner: dict[int, int] = {}
    partner: dict[int, int] = {}
    for thread in left:
        if len(partner) == size:
            break
        _augment(thread, right, owner, partner, allowed)
    return [(thread, partner[thread]) for thread in left if thread in partner]


def _augment(
    start: int,
    right: Sequence[int],
    owner: dict[int, int],
    partner: dict[int, int],
    allowed: Callable[[int, int], bool],
) -> None:
    """Give `start` a partner, moving others where needed; leave all as it is if that cannot be done."""
    reached_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        current = waiting.popleft()
        for candidate in right:
            if candidate in reached_from or not allowed(current, candidate):
                continue
            reached_from[candidate] = current
            if candidate in owner:
                waiting.append(owner[candidate])
                continue
            free: int | None = candidate
            while free is not None:
                mover = reached_from[free]
                previous = partner.get(mover)
                owner[free], partner[mover] = mover, free
                free = previous
            return
