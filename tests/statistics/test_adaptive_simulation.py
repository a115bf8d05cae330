"""The adaptive mode on planted strengths: what `bench.adaptive` and `bench.adaptive_stopping` measure at length."""

from random import Random

import numpy as np
import pytest
from scipy.stats import kendalltau

from bench.adaptive_designs import Judged, adaptive, random_pairs, round_robin, swiss, tie_parameter, world
from bench.adaptive_stopping import BUDGET as BUDGET_PER_THREAD
from bench.adaptive_stopping import equal_steps, play
from bench.adaptive_yardstick import easier_taus
from judge.statistics.standing import Pair, Standing, regularised

THREADS = 20
BUDGET = 80  # of 190 pairs
REPLICATES = 40


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
    assert np.mean(leads) > error  # measured: 2.5 times the error; without a look at the outcomes -0.2 times


@pytest.mark.parametrize("threads", [7, 8])
def test_every_design_ends_with_all_pairs_once(threads: int) -> None:
    planted = world(threads, 1)
    every = {(a, b) for b in range(threads) for a in range(b)}
    for pairs in (
        round_robin(planted, Random(1)),
        random_pairs(planted, Random(1)),
        swiss(planted, Random(1)),
        adaptive(planted, "1", most_meetings=1),
    ):
        assert len(pairs) == len(every)
        assert {(min(pair), max(pair)) for pair in pairs} == every


def test_a_session_of_clear_differences_stops_by_itself_with_the_right_ranking() -> None:
    ending = play(equal_steps(4, 2.0, seed=1), seed=1)
    assert ending.settled
    assert ending.comparisons < 4 * BUDGET_PER_THREAD
    assert ending.wrong == 0


def test_a_session_of_equal_threads_goes_on_to_the_end_of_its_budget() -> None:
    ending = play(equal_steps(3, 0.0, seed=1), seed=1)
    assert not ending.settled
    assert ending.comparisons == 3 * BUDGET_PER_THREAD


def test_the_yardstick_is_the_easier_game() -> None:
    budgets = [60, 120]
    easier = np.mean([easier_taus(world(THREADS, seed), seed, budgets) for seed in range(REPLICATES)], axis=0)
    real = np.mean([tau(seed, random_pairs(world(THREADS, seed), Random(seed))) for seed in range(REPLICATES)])
    assert real < easier[0] < easier[1] < 1.0


def test_a_tenth_of_the_planted_results_are_ties() -> None:
    drawn = [world(40, seed).results[0][np.triu_indices(40, 1)] for seed in range(30)]
    assert np.mean(np.concatenate(drawn) == 0) == pytest.approx(0.1, abs=0.01)
    assert tie_parameter() == pytest.approx(0.362, abs=0.001)
