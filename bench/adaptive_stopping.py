"""When an adaptive session stops by itself, and how often its ranking is wrong then.

    OMP_NUM_THREADS=1 python -m bench.adaptive_stopping [--replicates N]

A session stops when all neighbours in the ranking are told apart at 95 %, which is looked at before every batch. How
long that takes depends on the closest of them, so the planted strengths lie at equal distances first, in random order,
and are then drawn as in `bench.adaptive`. At last it counts the neighbours of large sessions that are told apart once
there are as many comparisons as there are pairs.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.adaptive_designs import MOST_MEETINGS, Judged, World, adaptive, adaptive_batches, outcomes, world
from judge.statistics.matches import Match
from judge.statistics.separation import Separation, is_settled, separations
from judge.statistics.standing import Standing

EQUAL = ((4, 2.0), (4, 1.0), (8, 2.0), (8, 1.0), (15, 1.0))  # threads, and how far each is from the next
NORMAL = (4, 8)  # threads
BUDGET = 100  # comparisons per thread
LARGE = ((30, 40), (100, 5))  # threads and replicates


@dataclass(frozen=True)
class Ending:
    """How one session ended: after how many comparisons, whether by itself, and how many neighbours it has wrong."""

    comparisons: int
    settled: bool
    wrong: int


def equal_steps(threads: int, distance: float, seed: int) -> World:
    """Strengths at equal distances, mean 0, in random order."""
    draw = np.random.default_rng([threads, seed, 2])
    strengths = draw.permutation(np.arange(threads) - (threads - 1) / 2.0) * distance
    return World(strengths, outcomes(strengths, BUDGET * threads, draw))


def play(planted: World, seed: int) -> Ending:
    """Play a session until it stops; its ranking is that of all outcomes, those of the batches under way too."""
    budget = BUDGET * planted.size
    judged = Judged(planted)
    settled = False
    for standing, batch in adaptive_batches(planted, f"stopping/{seed}", budget, budget):
        if settled := is_settled(standing):
            break
        judged.add(batch)
    wrong = [pair for pair in neighbours(planted, judged.matches) if is_wrong(planted, pair)]
    return Ending(len(judged.matches), settled, len(wrong))


def neighbours(planted: World, matches: list[Match]) -> list[Separation]:
    """The neighbours in the ranking after these outcomes."""
    return separations(Standing(range(planted.size), matches, {}))


def is_wrong(planted: World, pair: Separation) -> bool:
    """Whether the lower one of two neighbours is truly the stronger."""
    return bool(planted.strengths[pair.upper] < planted.strengths[pair.lower])


def show(name: str, threads: int, ends: Sequence[Ending]) -> None:
    """Print one line about sessions of one kind."""
    stopped = [end for end in ends if end.settled]
    print(f"{threads:>3} threads, {name}: {len(stopped)} of {len(ends)} stopped", end="")
    if stopped:
        low, middle, high = np.percentile([end.comparisons / threads for end in stopped], [10, 50, 90])
        failed = sum(end.wrong > 0 for end in stopped)
        print(
            f" after {middle:.0f} comparisons per thread ({low:.0f} to {high:.0f}), {failed} with a wrong order", end=""
        )
    print(flush=True)


def show_large(threads: int, replicates: int) -> None:
    """Print how many neighbours are told apart after as many comparisons as there are pairs."""
    clear, wrong = 0, 0
    for seed in range(replicates):
        planted = world(threads, seed)
        judged = Judged(planted)
        judged.add(adaptive(planted, f"adaptive/{seed}"))
        apart = [pair for pair in neighbours(planted, judged.matches) if pair.is_clear]
        clear += len(apart)
        wrong += sum(is_wrong(planted, pair) for pair in apart)
    print(
        f"{threads} threads, {replicates} sessions, as many comparisons as pairs, at most {MOST_MEETINGS} of a pair: "
        f"{clear / replicates / (threads - 1):.0%} of the neighbours told apart, {wrong} of these {clear} wrongly"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=100)
    replicates = parser.parse_args().replicates
    print(f"At most {BUDGET} comparisons per thread, pairs as often as is best (in brackets: 80 % of the sessions)")
    for threads, distance in EQUAL:
        ends = [play(equal_steps(threads, distance, seed), seed) for seed in range(replicates)]
        show(f"equal distances of {distance:.0f}", threads, ends)
    for threads in NORMAL:
        ends = [play(world(threads, seed, BUDGET * threads), seed) for seed in range(replicates)]
        show("normal strengths", threads, ends)
    for threads, sessions in LARGE:
        show_large(threads, min(sessions, replicates))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
