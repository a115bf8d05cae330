"""Bradley-Terry strengths by maximum likelihood on the count matrix, with the analytic sandwich interval."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from judge.statistics.components import strong_components
from judge.statistics.distributions import normal_quantile
from judge.statistics.intervals import UPPER
from judge.statistics.matches import Item, Match, item_key
from judge.statistics.newton import information, maximise, win_probabilities

CENTRE = 1500.0
POINTS_PER_LOG_STRENGTH = 400.0 / math.log(10.0)
Floats = npt.NDArray[np.float64]
Flag = Literal["never_won", "never_lost", "not_connected"]


@dataclass(frozen=True, eq=False, slots=True)
class CountMatrix:
    """All that the fit needs to know of the matches: wins[i, j] of items[i] over items[j], and their ties.

    `ties` is symmetric. The counts are whole numbers kept as floats, so they add up in any order.
    """

    items: tuple[Item, ...]
    wins: Floats
    ties: Floats

    @property
    def half_wins(self) -> Floats:
        """Wins with each tie as half a win for both sides."""
        return self.wins + self.ties / 2.0


@dataclass(frozen=True, slots=True)
class BradleyTerryRating:
    """One thread's strength: log_strength (mean 0) and rating = 1500 + 400 / ln 10 x log_strength.

    low and high bound the rating's 95 % interval. Where maximum likelihood gives no finite value, `flag` says why,
    the value is regularised and has no interval.
    """

    item: Item
    log_strength: float
    rating: float
    low: float | None
    high: float | None
    flag: Flag | None

    @property
    def is_regularised(self) -> bool:
        """Whether the value is not the maximum likelihood estimate."""
        return self.flag is not None


def aggregate(matches: Iterable[Match]) -> CountMatrix:
    """Count the matches, one row and column per thread, sorted by thread. The only step that sees each match."""
    counts: dict[tuple[Item, Item], list[int]] = {}
    for match in matches:
        cell = counts.setdefault((match.thread_a, match.thread_b), [0, 0, 0])
        cell[("a", "tie", "b").index(match.result)] += 1
    items = sorted({item for pair in counts for item in pair}, key=item_key)
    position = {item: i for i, item in enumerate(items)}
    wins = np.zeros((len(items), len(items)))
    ties = np.zeros_like(wins)
    for (thread_a, thread_b), (won, tied, lost) in counts.items():
        a, b = position[thread_a], position[thread_b]
        wins[a, b] += won
        wins[b, a] += lost
        ties[a, b] += tied
        ties[b, a] += tied
    return CountMatrix(tuple(items), wins, ties)


def fit(counts: CountMatrix) -> dict[Item, BradleyTerryRating]:
    """Maximum likelihood strengths, converged to 1e-10; a tie is half a win for each.

    Finite strengths exist for threads that are linked by wins in both directions (Ford 1957). If such a group holds
    more than half of the threads it is fitted by itself (which is the limit of the whole fit), mean 0; every other
    thread is flagged and placed around it with one virtual tie against an average thread. Without such a group all
    are flagged and fitted together with one virtual tie each.
    Sources: Bradley & Terry (1952); Newton's method with step halving on the log-likelihood.
    """
    n = len(counts.items)
    if n == 0:
        return {}
    half_wins = counts.half_wins
    fitted = _main_group(half_wins)
    log_strengths = np.zeros(n)
    errors = np.full(n, np.nan)
    if fitted.any():
        group = np.ix_(fitted, fitted)
        log_strengths[fitted] = maximise(half_wins[group])
        errors[fitted] = _sandwich_errors(counts.wins[group], counts.ties[group], log_strengths[fitted])
    if not fitted.all():
        log_strengths = maximise(half_wins, virtual_ties=1.0, start=log_strengths, fixed=fitted)
    if not fitted.any():
        log_strengths -= log_strengths.mean()
    return {
        item: _rating(item, float(log_strengths[i]), float(errors[i]), _flag(half_wins, i, bool(fitted[i])))
        for i, item in enumerate(counts.items)
    }


def _main_group(half_wins: Floats) -> npt.NDArray[np.bool_]:
    """Mask of the threads linked by wins in both directions, if they are more than half; else nobody."""
    component = strong_components(half_wins)
    sizes = np.bincount(component)
    if 2 * sizes.max() <= len(component) or sizes.max() < 2:
        return np.zeros(len(component), dtype=np.bool_)
    return np.asarray(component == sizes.argmax(), dtype=np.bool_)


def _flag(half_wins: Floats, i: int, is_fitted: bool) -> Flag | None:
    if is_fitted:
        return None
    if not half_wins[i].any():
        return "never_won"
    if not half_wins[:, i].any():
        return "never_lost"
    return "not_connected"


def _sandwich_errors(wins: Floats, ties: Floats, log_strengths: Floats) -> Floats:
    """Standard errors of mean-0 log-strengths: H+ S H+, H the information, S the squared scores of the matches.

    Source: Huber (1967), White (1982). It stays right where a tie as half a win makes the binomial variance wrong.
    """
    expected = win_probabilities(log_strengths)
    meat = score_covariance(wins, ties, expected)
    n = len(log_strengths)
    bread = np.linalg.inv(information(wins + wins.T + ties, expected) + 1.0 / n) - 1.0 / n
    return np.asarray(np.sqrt(np.einsum("ij,jk,ki->i", bread, meat, bread, optimize=True).clip(min=0.0)))


def score_covariance(wins: Floats, ties: Floats, expected: Floats) -> Floats:
    """S of the sandwich: the Laplacian of the summed squared scores of the matches; shape (n, n)."""
    squared = wins * (1 - expected) ** 2 + wins.T * expected**2 + ties * (0.5 - expected) ** 2
    return np.asarray(np.diag(squared.sum(axis=1)) - squared)


def _rating(item: Item, log_strength: float, error: float, flag: Flag | None) -> BradleyTerryRating:
    rating = CENTRE + POINTS_PER_LOG_STRENGTH * log_strength
    if flag is not None:
        return BradleyTerryRating(item, log_strength, rating, None, None, flag)
    reach = POINTS_PER_LOG_STRENGTH * normal_quantile(UPPER) * error
    return BradleyTerryRating(item, log_strength, rating, rating - reach, rating + reach, None)
