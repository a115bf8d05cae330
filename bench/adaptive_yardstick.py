"""A yardstick for the adaptive benchmark: an easier game, in which every comparison tells as much as one of equals.

In the real game a comparison tells little when one thread is far better, and nobody knows beforehand which threads are
close. Here each comparison measures the difference of two strengths with normal noise, and as precisely for all pairs
as a real comparison does for two equal threads. The spread of the strengths is known, and each result at once.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau

from bench.adaptive_designs import SPREAD, Floats, World, tie_parameter
from judge.statistics.standing import Pair, of_differences

CHOSEN_TOGETHER = 30  # of so many threads one pair is chosen at a time, of 60 two, and so on


def information_of_equals() -> float:
    """What a comparison of equal threads tells of their difference: the variance of its score (1, 1/2 or 0)."""
    return 0.5 / (2.0 + tie_parameter())


def easier_taus(planted: World, seed: int, budgets: Sequence[int]) -> list[float]:
    """Kendall's tau after each budget of the easier game, played by the rule of the adaptive mode, without limits."""
    draw = np.random.default_rng([planted.size, seed, 1])
    noise = 1.0 / information_of_equals()
    means = np.zeros(planted.size)
    covariance = np.eye(planted.size) * SPREAD**2
    taus: dict[int, float] = {}
    played = 0
    while played < max(budgets):
        for a, b in _choose(means, covariance):
            result = draw.normal(planted.strengths[a] - planted.strengths[b], np.sqrt(noise))
            shared = covariance[a] - covariance[b]
            certain = shared[a] - shared[b] + noise
            means = means + shared / certain * (result - means[a] + means[b])
            covariance = covariance - np.outer(shared, shared) / certain
            played += 1
            if played in budgets:
                taus[played] = float(kendalltau(planted.strengths, means).statistic)
    return [taus[budget] for budget in budgets]


def _choose(means: Floats, covariance: Floats) -> list[Pair]:
    """The pairs from which most is to be gained, weighted as `judge.statistics.adaptive` does when nothing waits."""
    size = len(means)
    variance = of_differences(covariance) + np.eye(size)
    worth = np.exp(-((means[:, None] - means) ** 2) / variance) / variance
    np.fill_diagonal(worth, 0.0)
    reduced = covariance @ (np.diag(worth.sum(axis=1)) - worth) @ covariance
    gains = of_differences(reduced) / (1.0 / information_of_equals() + variance)
    chosen: list[Pair] = []
    for _ in range(max(1, size // CHOSEN_TOGETHER)):
        a, b = divmod(int(gains.argmax()), size)
        chosen.append((a, b))
        gains[[a, b]] = gains[:, [a, b]] = -1.0
    return chosen
