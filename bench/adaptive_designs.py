"""A planted tournament, and the four ways to spend comparisons on it that the adaptive benchmark compares.

Every design is a list of pairs in the order in which they are judged. A design may look at outcomes of pairs that it
planned earlier, and the same meeting of the same pair ends the same way in all of them (common random numbers).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
import numpy.typing as npt

from judge.statistics.adaptive import batch_size, next_batch
from judge.statistics.matches import Match
from judge.statistics.outcomes import Result
from judge.statistics.standing import Pair, Standing

SPREAD = 2.0  # standard deviation of the log-strengths
TIES = 0.1  # share of ties, over all pairs
MOST_MEETINGS = 2  # how often the adaptive design may plan a pair, unless told otherwise
SCORES: dict[Result, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}
Floats = npt.NDArray[np.float64]


@cache
def tie_parameter() -> float:
    """Davidson's nu (1970) for which a pair drawn at random ties with probability TIES, by bisection."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    ratio = np.exp(nodes * SPREAD * np.sqrt(2.0) / 2.0)
    low, high = 0.0, 10.0
    for _ in range(60):
        nu = (low + high) / 2.0
        share = float((weights * nu / (ratio + 1.0 / ratio + nu)).sum() / weights.sum())
        low, high = (nu, high) if share < TIES else (low, nu)
    return low


@dataclass(frozen=True)
class World:
    """Planted log-strengths of threads 0, 1, ..., and how each meeting of each pair ends."""

    strengths: Floats
    results: Sequence[npt.NDArray[np.int8]]  # of each meeting: 1 the smaller number wins, 0 tie, -1 the larger

    @property
    def size(self) -> int:
        """Number of threads."""
        return len(self.strengths)

    @property
    def pairs(self) -> int:
        """Number of different pairs."""
        return self.size * (self.size - 1) // 2

    def match(self, pair: Pair, meeting: int) -> Match:
        """How the meeting (from 0) of the pair ends."""
        low, high = min(pair), max(pair)
        return Match(low, high, {1: "a", 0: "tie", -1: "b"}[int(self.results[meeting][low, high])])  # type: ignore[arg-type]


def world(size: int, seed: int, meetings: int = MOST_MEETINGS) -> World:
    """Normal strengths and the outcomes of so many meetings of each pair, drawn from the seed."""
    draw = np.random.default_rng([size, seed])
    strengths = draw.normal(0.0, SPREAD, size)
    return World(strengths, outcomes(strengths, meetings, draw))


def outcomes(strengths: Floats, meetings: int, draw: np.random.Generator) -> list[npt.NDArray[np.int8]]:
    """How each meeting of each pair ends: P(win), P(tie), P(loss) as e^(d/2) : nu : e^(-d/2) (Davidson 1970)."""
    won = np.exp((strengths[:, None] - strengths) / 2.0)
    total = won + won.T + (nu := tie_parameter())
    results = []
    for _ in range(meetings):
        chance = draw.random(won.shape)
        results.append(np.where(chance < won / total, 1, np.where(chance < (won + nu) / total, 0, -1)).astype(np.int8))
    return results


class Judged:
    """The outcomes of a list of pairs that grows, in the order in which they are judged."""

    def __init__(self, planted: World) -> None:
        self.matches: list[Match] = []
        self._world = planted
        self._met: Counter[Pair] = Counter()

    def add(self, pairs: Sequence[Pair]) -> None:
        """Judge the pairs."""
        for a, b in pairs:
            key = (min(a, b), max(a, b))
            self.matches.append(self._world.match(key, self._met[key]))
            self._met[key] += 1


def round_robin(planted: World, random: Random) -> list[Pair]:
    """All pairs once, round by round by the circle method, over threads in random order."""
    ring: list[int | None] = list(_shuffled(range(planted.size), random))
    if len(ring) % 2:
        ring.append(None)
    pairs: list[Pair] = []
    for _ in range(len(ring) - 1):
        facing = zip(ring, reversed(ring), strict=True)
        pairs += [(a, b) for a, b in list(facing)[: len(ring) // 2] if a is not None and b is not None]
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return pairs


def random_pairs(planted: World, random: Random) -> list[Pair]:
    """All pairs once in random order."""
    keyed = [(random.random(), a, b) for a in range(planted.size) for b in range(a)]
    return [(a, b) for _, a, b in sorted(keyed)]


def swiss(planted: World, random: Random) -> list[Pair]:
    """Rounds in which each thread, from the top score down, meets the nearest one below that it has not met yet.

    A thread that has met all who are left sits the round out, so that no pair ever meets twice. Each round knows all
    outcomes of the rounds before it, which the adaptive design does not.
    """
    scores = [0.0] * planted.size
    met: set[Pair] = set()
    pairs: list[Pair] = []
    while len(pairs) < planted.pairs:
        keys = {thread: (-scores[thread], random.random()) for thread in range(planted.size)}
        waiting = sorted(keys, key=keys.__getitem__)
        while waiting:
            thread = waiting.pop(0)
            other = next((t for t in waiting if (min(t, thread), max(t, thread)) not in met), None)
            if other is None:
                continue
            waiting.remove(other)
            pair = (min(thread, other), max(thread, other))
            met.add(pair)
            pairs.append(pair)
            score = SCORES[planted.match(pair, 0).result]
            scores[pair[0]] += score
            scores[pair[1]] += 1.0 - score
    return pairs


def adaptive(planted: World, seed: str, most_meetings: int = MOST_MEETINGS, budget: int | None = None) -> list[Pair]:
    """`budget` pairs, or as many as there are different ones."""
    budget = planted.pairs if budget is None else budget
    return [pair for _, batch in adaptive_batches(planted, seed, most_meetings, budget) for pair in batch]


def adaptive_batches(
    planted: World, seed: str, most_meetings: int, budget: int
) -> Iterator[tuple[Standing, list[Pair]]]:
    """What is known and the batch chosen from it, until `budget` pairs are planned. As in use, each batch is chosen
    while the one before it is being judged, so that it knows the outcomes up to the last but one only."""
    planned = 0
    waiting: list[Pair] = []
    judged = Judged(planted)
    meetings: Counter[Pair] = Counter()
    while planned < budget:
        standing = Standing(range(planted.size), judged.matches, meetings)
        wanted = min(batch_size(planted.size), budget - planned)
        batch = next_batch(standing, wanted, most_meetings, Random(f"{seed}/{planned}"))
        yield standing, batch
        judged.add(waiting)
        waiting = batch
        planned += len(batch)
        meetings.update((min(pair), max(pair)) for pair in batch)


def _shuffled(items: Sequence[int], random: Random) -> list[int]:
    keys = [random.random() for _ in items]
    return [items[i] for i in sorted(range(len(items)), key=keys.__getitem__)]
