"""The next pairs of an adaptive session: those from whose comparison the ranking is expected to gain most.

Pure and reproducible: the same standing and random stream give the same pairs. Of the stream only `random()` is used,
whose sequence is promised to stay the same in later versions of Python.
"""

import math
from random import Random

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph, csr_array  # type: ignore[import-untyped, unused-ignore]

from judge.statistics.standing import Floats, Pair, Standing, covariance, of_differences, regularised

SMALLEST_BATCH = 5  # one pair for each of the most lanes that a session can have
DIGITS = 9  # gains that agree this far, relative to the largest, are called equal: the rest is rounding
Indices = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def batch_size(thread_count: int) -> int:
    """How many pairs to plan at a time: an eighth of the threads, but at least five.

    A batch is chosen before the one in front of it is judged, so a large batch acts on old news. In the simulation of
    docs/statistics.md with 30 threads a quarter of them costs up to .005 of tau and a half up to .024; batches of two
    would gain no more than .004, and could not keep five lanes busy.
    """
    return max(SMALLEST_BATCH, math.ceil(thread_count / 8))


def next_batch(standing: Standing, size: int, most_meetings: int, random: Random) -> list[Pair]:
    """The next `size` pairs, most telling first. Which thread of a pair is first, and to be shown first, is by chance.

    No pair comes twice in a batch or is planned more than `most_meetings` times in all; there are fewer than `size`
    only when no such pair is left. Pairs that were planned and have no outcome, because they wait or because they
    failed, count as information already bought. Until the plan connects all threads, only pairs that connect are
    chosen. Raises ValueError for a negative size or `most_meetings` below 1.
    """
    if size < 0 or most_meetings < 1:
        raise ValueError(f"no batch of {size} pairs that meet at most {most_meetings} times")
    if len(standing.threads) < 2:
        return []
    order = _shuffled(len(standing.threads), random)  # decides between equal gains, and who is first in a pair
    counts = standing.counts()
    log_strengths = regularised(counts)
    judged = counts.wins + counts.wins.T + counts.ties
    planned = standing.planned()
    permitted = planned < most_meetings
    batch: list[Pair] = []
    while len(batch) < size:
        games = np.maximum(planned, judged)
        found = _round(_gains(judged, games, log_strengths), planned, permitted, order, size - len(batch))
        if not found:
            break
        for a, b in found:
            planned[[a, b], [b, a]] += 1
            permitted[[a, b], [b, a]] = False
        batch += found
    return [(standing.threads[a], standing.threads[b]) for a, b in batch]


def _shuffled(n: int, random: Random) -> Indices:
    keys = [random.random() for _ in range(n)]
    return np.array(sorted(range(n), key=keys.__getitem__), dtype=np.intp)


def _gains(judged: Floats, games: Floats, log_strengths: Floats) -> Floats:
    """What one more comparison of each pair is expected to do for the ranking, as a share of the largest gain.

    It is how much the sum of the variances of all differences, each weighted by what certainty is worth there, goes
    down (a weighted A-optimal design). With C the covariance after all `games`, those that wait included, L the
    Laplacian of the weights, u = e_a - e_b and i the expected information, that is i u'C L C u / (1 + i u'C u), by
    Sherman & Morrison (1950). The worth is taken where all games are judged and half of the variance then left is
    gone: to look just one comparison ahead would see no pair whose order that one could change.
    """
    difference = log_strengths[:, None] - log_strengths
    now = of_differences(covariance(judged, log_strengths))
    after = covariance(games, log_strengths)
    then = of_differences(after)
    np.fill_diagonal(now, 1.0)
    np.fill_diagonal(then, 1.0)
    worth = worth_of_certainty(difference, now, then / 2.0)
    np.fill_diagonal(worth, 0.0)
    reduced = after @ (np.diag(worth.sum(axis=1)) - worth) @ after
    bought = expected_information(difference, now)
    gains = bought * of_differences(reduced) / (1.0 + bought * then)
    largest = gains.max()
    return np.asarray(np.round(gains / largest, DIGITS)) if largest > 0 else np.zeros_like(gains)


def worth_of_certainty(difference: Floats, now: Floats, left: Floats) -> Floats:
    """How fast the chance to rank two threads wrongly goes down with the variance of their difference, times 2 pi.

    Their difference is normal with mean `difference` and variance `now`. Once more games have brought the variance down
    to `left` (above 0, below `now`), the new mean is normal with variance `now - left`, and only where it is near 0
    does a little more certainty change the order: the rate is phi(d / sqrt(now - left)) phi(0) / sqrt((now - left)
    left), by the heat equation.
    """
    gone = now - left
    return np.asarray(np.exp(-(difference**2) / (2.0 * gone)) / np.sqrt(gone * left))


def expected_information(difference: Floats, variance: Floats) -> Floats:
    """p (1 - p) of a comparison, averaged over a normal difference with this mean and variance.

    p (1 - p) is the density of the logistic distribution (variance pi^2 / 3); its sum with the normal one is taken
    for a logistic one with the variance of both.
    """
    scale = np.sqrt(1.0 + 3.0 * variance / math.pi**2)
    p = np.exp(-np.logaddexp(0.0, np.abs(difference) / scale))
    return np.asarray(p * (1.0 - p) / scale)


def _round(gains: Floats, planned: Floats, permitted: Mask, order: Indices, size: int) -> list[Pair]:
    """Up to `size` permitted pairs, each thread in at most one of them, the largest gains first.

    While the plan falls into parts, only pairs that join two parts, first of all those with the fewest meetings:
    from nothing this gives a random matching first, then a path through all threads.
    """
    _, part = csgraph.connected_components(csr_array(planned > 0), directed=False)
    first, second = (order[side] for side in np.triu_indices(len(order), 1))
    eligible = permitted[first, second]
    joining = bool(part.any())
    if joining:
        eligible &= part[first] != part[second]
    first, second = first[eligible], second[eligible]
    meetings = planned.sum(axis=1) if joining else np.zeros(len(order))
    ranked = np.lexsort((-gains[first, second], meetings[first] + meetings[second]))  # stable: then the random order
    found: list[Pair] = []
    used: set[int] = set()
    joined = list(range(len(order)))
    for index in ranked:  # one by one, since the batch is full long before the last of up to two million
        if len(found) == size:
            break
        a, b = int(first[index]), int(second[index])
        if a in used or b in used or (joining and not _join(joined, int(part[a]), int(part[b]))):
            continue
        used |= {a, b}
        found.append((a, b))
    return found


def _join(joined: list[int], a: int, b: int) -> bool:
    """Make parts `a` and `b` one; False if they were. `joined` leads each part to the one that stands for it."""
    roots = [a, b]
    for side, root in enumerate(roots):
        while joined[root] != root:
            root = joined[root]
        roots[side] = root
    joined[roots[1]] = roots[0]
    return roots[0] != roots[1]
