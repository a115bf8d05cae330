"""The adaptive mode finds a planted ranking sooner than random pairs do; `bench.adaptive` measures how much."""

from random import Random

import numpy as np
import pytest
from scipy.stats import kendalltau

from bench.adaptive_designs import Judged, adaptive, random_pairs, round_robin, swiss, tie_parameter, world
from judge.statistics.standing import Pair, Standing, regularised

THREADS = 12
BUDGET = 42  # of 66 pairs
REPLICATES = 150


def tau(seed: int, pairs: list[Pair]) -> float:
    planted = world(THREADS, seed)
    judged = Judged(planted)
    judged.add(pairs[:BUDGET])
    fitted = regularised(Standing(range(THREADS), judged.matches, {}).counts())
    return float(kendalltau(planted.strengths, np.round(fitted, 8)).statistic)


def test_adaptive_pairs_beat_random_ones() -> None:
    leads = [
        tau(seed, adaptive(world(THREADS, seed), f"adaptive/{seed}", budget=BUDGET))
        - tau(seed, random_pairs(world(THREADS, seed), Random(seed)))
        for seed in range(REPLICATES)
    ]
    error = np.std(leads, ddof=1) / np.sqrt(REPLICATES)
    assert np.mean(leads) > error  # measured: 2 to 5 times the error; without looking at the outcomes -1


@pytest.mark.parametrize("threads", [7, 8])
def test_every_design_ends_with_all_pairs_once(threads: int) -> None:
    planted = world(threads, 1)
    every = {(a, b) for b in range(threads) for a in range(b)}
    for pairs in (
        round_robin(planted, Random(1)),
        random_pairs(planted, Random(1)),
        swiss(planted, Random(1)),
        adaptive(planted, "1"),
    ):
        assert len(pairs) == len(every)
        assert {(min(pair), max(pair)) for pair in pairs} == every


def test_a_tenth_of_the_planted_results_are_ties() -> None:
    drawn = [world(40, seed).results[0][np.triu_indices(40, 1)] for seed in range(30)]
    assert np.mean(np.concatenate(drawn) == 0) == pytest.approx(0.1, abs=0.01)
    assert tie_parameter() == pytest.approx(0.362, abs=0.001)
