"""What is known while an adaptive session runs: the outcomes so far, the plan so far, and how sure both make us."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge.statistics.bradley_terry import CountMatrix, aggregate
from judge.statistics.matches import Match
from judge.statistics.newton import information, maximise, win_probabilities

Floats = npt.NDArray[np.float64]
Pair = tuple[int, int]
VIRTUAL_TIES = 1.0  # of each thread against one of average strength, so that every strength is finite


@dataclass(frozen=True, slots=True)
class Standing:
    """A session at one moment.

    `threads` are all that take part, sorted and distinct. `matches` are the outcomes that are in, one for each pair
    and repetition (with several judges: one reading of them), in any order. `meetings` says how often each pair was
    planned, judged or not, under (a, b) or (b, a). Raises ValueError if they do not fit together.
    """

    threads: Sequence[int]
    matches: Sequence[Match]
    meetings: Mapping[Pair, int]

    def __post_init__(self) -> None:
        known = set(self.threads)
        if list(self.threads) != sorted(known):
            raise ValueError("threads must be sorted and distinct")
        if any(match.thread_a not in known or match.thread_b not in known for match in self.matches):
            raise ValueError("a match names a thread that does not take part")
        if any(a == b or a not in known or b not in known or times < 0 for (a, b), times in self.meetings.items()):
            raise ValueError("meetings must be of two different threads that take part, and not negative")

    def counts(self) -> CountMatrix:
        """The matches counted, with a row and column for every thread, those without matches too."""
        counted = aggregate(self.matches)
        n = len(self.threads)
        position = {thread: i for i, thread in enumerate(self.threads)}
        rows = [position[item] for item in counted.items if isinstance(item, int)]
        wins, ties = np.zeros((n, n)), np.zeros((n, n))
        wins[np.ix_(rows, rows)] = counted.wins
        ties[np.ix_(rows, rows)] = counted.ties
        return CountMatrix(tuple(self.threads), wins, ties)

    def planned(self) -> Floats:
        """How often each pair was planned; shape (n, n), symmetric."""
        planned = np.zeros((len(self.threads), len(self.threads)))
        if self.meetings:
            pairs = np.searchsorted(np.array(self.threads), np.array(list(self.meetings)))
            np.add.at(planned, (pairs[:, 0], pairs[:, 1]), list(self.meetings.values()))
        return planned + planned.T


def regularised(counts: CountMatrix) -> Floats:
    """Log-strengths with one virtual tie for each thread, so that they exist after any matches, or none."""
    return maximise(counts.half_wins, virtual_ties=VIRTUAL_TIES)


def covariance(games: Floats, log_strengths: Floats) -> Floats:
    """Covariance of the regularised log-strengths once `games` (n x n) are judged: the inverse of the information."""
    bread = information(games, win_probabilities(log_strengths))
    own = np.exp(-np.logaddexp(0.0, log_strengths) - np.logaddexp(0.0, -log_strengths))  # p (1 - p) against strength 0
    bread[np.diag_indices(len(own))] += VIRTUAL_TIES * own
    return np.asarray(np.linalg.inv(bread))


def of_differences(matrix: Floats) -> Floats:
    """(e_i - e_j)' M (e_i - e_j) for all i and j of a symmetric M: from a covariance, the variances of differences."""
    own = np.diag(matrix)
    return np.asarray(own[:, None] + own[None, :] - 2.0 * matrix)
