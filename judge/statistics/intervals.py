"""Rates with their n and 95 % interval: Wilson for one thread, two-way cluster-robust for pillars."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from judge.statistics.distributions import (
    ALPHA,
    CONFIDENCE,
    exact_half_p,
    exact_interval,
    normal_quantile,
    t_quantile,
    t_two_sided,
)
from judge.statistics.matches import Item

Method = Literal["wilson", "cluster", "exact"]
UPPER = 1.0 - (1.0 - CONFIDENCE) / 2.0


@dataclass(frozen=True, slots=True)
class Rate:
    """A proportion, 0 to 1, of `n`, with its 95 % interval and the method that made the interval."""

    value: float
    n: int
    low: float
    high: float
    method: Method


class ScoredMatches(NamedTuple):
    """Matches of the same two threads as a clustered rate sees them: what side a won in half points, and how many.

    Each match gives 0, 1 or 2 half points. The same two threads may come in several of these.
    """

    thread_a: Item
    thread_b: Item
    half_points: int
    matches: int = 1


@dataclass(frozen=True, slots=True)
class ClusteredRate:
    """A rate over threads of two sides; `threads` is G, the smaller number of threads of a side.

    `p_value` is that of the two-sided test against 1/2 which belongs to the interval.
    """

    rate: Rate
    threads: int
    p_value: float

    @property
    def is_fallback(self) -> bool:
        """Whether the cluster-robust interval could not be computed and the exact one stands in."""
        return self.rate.method != "cluster"

    @property
    def no_clear_difference(self) -> bool:
        """Whether the test against 1/2 says p >= .05."""
        return self.p_value >= ALPHA


def win_rate(wins: int, losses: int, ties: int) -> float | None:
    """wins / (wins + losses + ties), 0 to 1; None without matches."""
    n = wins + losses + ties
    return wins / n if n else None


def score_rate(wins: int, losses: int, ties: int) -> float | None:
    """(wins + ties / 2) / n, 0 to 1; None without matches."""
    n = wins + losses + ties
    return (2 * wins + ties) / (2 * n) if n else None


def wilson(successes: float, n: int) -> Rate:
    """Wilson's 95 % score interval; `successes` may hold half points of ties. Source: Wilson (1927).

    Raises ValueError unless n > 0 and 0 <= successes <= n.
    """
    if n <= 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is not a proportion")
    z2 = normal_quantile(UPPER) ** 2
    share = successes / n
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    margin = math.sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    low = 0.0 if successes == 0 else max(0.0, centre - margin)
    high = 1.0 if successes == n else min(1.0, centre + margin)
    return Rate(share, n, low, high, "wilson")


def clustered(scored: Iterable[ScoredMatches]) -> ClusteredRate:
    """The rate over all matches with the two-way cluster-robust interval, or flagged, with the exact one.

    The exact (Clopper-Pearson) interval and binomial test stand in, over G threads instead of n matches, where
    the cluster-robust ones do not exist: G < 2, a rate of 0 or 1, or no variance at all (as when all are ties).
    Raises ValueError without matches.
    """
    rows = list(scored)
    n = sum(row.matches for row in rows)
    if n == 0:
        raise ValueError("a rate needs at least one match")
    estimate = cluster_robust(rows)
    if estimate is not None:
        return estimate
    threads = smaller_side(rows)
    value = sum(row.half_points for row in rows) / (2 * n)
    low, high = exact_interval(value * threads, threads)
    return ClusteredRate(Rate(value, n, low, high, "exact"), threads, exact_half_p(value * threads, threads))


def cluster_robust(scored: Sequence[ScoredMatches]) -> ClusteredRate | None:
    """Two-way cluster-robust rate on the logit scale with Student's t, G - 1 df; None where it does not exist.

    Variance V = max(V_a + V_b - V_ab, V_a, V_b): summed squared residuals of each thread of side a, of side b and
    of each pair of threads, each times m / (m - 1) for its m clusters. The interval is
    expit(logit p +- t x sqrt(V) / (p (1 - p))). Sources: Cameron, Gelbach & Miller (2011) for the three terms;
    MacKinnon, Nielsen & Webb (2024) for never going below one-way clustering.
    All sums are of whole numbers, so neither the order of the matches nor a swap of the sides changes a digit.
    """
    n = sum(row.matches for row in scored)
    total = sum(row.half_points for row in scored)
    threads = smaller_side(scored)
    if threads < 2 or total in (0, 2 * n):
        return None
    side_a = _corrected_squares(((row[0], row[2], row[3]) for row in scored), n, total)
    side_b = _corrected_squares(((row[1], row[2], row[3]) for row in scored), n, total)
    both = _corrected_squares(((row[:2], row[2], row[3]) for row in scored), n, total)
    squares = max(side_a + side_b - both, side_a, side_b)
    if squares <= 0:
        return None
    # In half points: V = squares / 4n^4 and p (1 - p) = total (2n - total) / 4n^2, so n cancels out.
    standard_error = 2 * math.sqrt(squares) / (total * (2 * n - total))
    logit = math.log(total) - math.log(2 * n - total)
    reach = t_quantile(UPPER, threads - 1) * standard_error
    rate = Rate(total / (2 * n), n, _expit(logit - reach), _expit(logit + reach), "cluster")
    return ClusteredRate(rate, threads, t_two_sided(logit / standard_error, threads - 1))


def smaller_side(scored: Sequence[ScoredMatches]) -> int:
    """G: the smaller of the numbers of different threads on the two sides."""
    return min(len({row.thread_a for row in scored}), len({row.thread_b for row in scored}))


def _corrected_squares(rows: Iterable[tuple[object, int, int]], n: int, total: int) -> float:
    """Squared residual sums of the clusters, times 4n^2, with the m / (m - 1) correction.

    `rows` are cluster, half points, matches.
    """
    points: defaultdict[object, int] = defaultdict(int)
    sizes: defaultdict[object, int] = defaultdict(int)
    for cluster, half_points, matches in rows:
        points[cluster] += half_points
        sizes[cluster] += matches
    clusters = len(points)
    squares = sum((n * points[cluster] - sizes[cluster] * total) ** 2 for cluster in points)
    return squares * clusters / (clusters - 1)


def _expit(x: float) -> float:
    """The inverse of the logit, without overflow."""
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))
