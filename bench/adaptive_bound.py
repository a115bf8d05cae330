"""A yardstick for the adaptive benchmark: how few comparisons could do, if somebody who knew the strengths chose them.

It is what large samples say (Fisher's information), not a law: two threads whose strengths differ by d are ranked
wrongly with probability Phi(-|d| / s), s the standard error of their difference. Pairs may be compared as often as one
likes, even a fraction of a time. The best such design comes from a multiplicative algorithm (Silvey, Titterington &
Torsney 1978).
"""

import numpy as np
from scipy.special import ndtr

from bench.adaptive_designs import Floats, World, tie_parameter
from judge.statistics.standing import of_differences

STEPS = 60  # the last hundredth of a pair would take hundreds more
WEAK_PRIOR = 0.05  # information on each strength by itself, so that the inverse exists


def share_needed(planted: World) -> float:
    """Comparisons of the best design that is as good as all pairs once, as a share of their number, by bisection."""
    information = _information_of_one(planted)
    once = 1.0 - np.eye(planted.size)
    target = _wrong_pairs(once, planted.strengths, information)[0]
    low, high = 0.2, 1.0
    for _ in range(6):
        share = (low + high) / 2.0
        if _best(planted.strengths, information, share * once) <= target:
            high = share
        else:
            low = share
    return (low + high) / 2.0


def _information_of_one(planted: World) -> Floats:
    """What one comparison of each pair tells of their difference: the variance of its score under Davidson's model."""
    won = np.exp((planted.strengths[:, None] - planted.strengths) / 2.0)
    nu = tie_parameter()
    total = won + won.T + nu
    mean = (won + nu / 2.0) / total
    return np.asarray((won + nu / 4.0) / total - mean**2)


def _wrong_pairs(games: Floats, strengths: Floats, information: Floats) -> tuple[float, Floats]:
    """The expected number of wrongly ranked pairs, and how fast it falls with one more game of each pair."""
    weights = games * information
    covariance = np.linalg.inv(np.diag(weights.sum(axis=1) + WEAK_PRIOR) - weights)
    variance = of_differences(covariance) + np.eye(len(strengths))
    distance = np.abs(strengths[:, None] - strengths)
    wrong = float((ndtr(-distance / np.sqrt(variance)) - np.eye(len(strengths)) / 2.0).sum()) / 2.0
    slope = np.exp(-(distance**2) / (2.0 * variance)) * distance / variance**1.5
    falls = covariance @ (np.diag(slope.sum(axis=1)) - slope) @ covariance
    falls = (falls + falls.T) / 2.0  # or rounding would grow from step to step
    return wrong, information * np.maximum(of_differences(falls), 0.0)


def _best(strengths: Floats, information: Floats, games: Floats) -> float:
    """The fewest wrongly ranked pairs with as many games as `games` holds, spread as is best."""
    total = games.sum()
    fewest = np.inf
    for _ in range(STEPS):
        wrong, gains = _wrong_pairs(games, strengths, information)
        fewest = min(fewest, wrong)
        games = games * np.sqrt(gains)
        games *= total / games.sum()
    return float(fewest)
