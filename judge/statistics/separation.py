"""Whether neighbours in the ranking are told apart yet: what an adaptive session stops on."""

from dataclasses import dataclass

import numpy as np

from judge.statistics.bradley_terry import score_covariance
from judge.statistics.distributions import normal_quantile
from judge.statistics.intervals import UPPER
from judge.statistics.newton import win_probabilities
from judge.statistics.standing import Standing, covariance, of_differences, regularised


@dataclass(frozen=True, slots=True)
class Separation:
    """Two neighbours in the ranking: by how much the regularised log-strength of `upper` is above that of `lower`
    (0 or more), and the standard error of that."""

    upper: int
    lower: int
    difference: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether the 95 % interval of the difference leaves out 0."""
        return self.difference > normal_quantile(UPPER) * self.error


def separations(standing: Standing) -> list[Separation]:
    """The neighbours in the ranking, from the top down (of equal threads the smaller number first).

    The error is the larger one of two: that of the model, from the inverse information C, and the sandwich C S C. The
    first is large where a thread has only won or only lost, and S would be next to nothing; the second where the
    outcomes contradict each other more than the model allows.
    """
    counts = standing.counts()
    if len(counts.items) < 2:
        return []
    log_strengths = regularised(counts)
    model = covariance(counts.wins + counts.wins.T + counts.ties, log_strengths)
    sandwich = model @ score_covariance(counts.wins, counts.ties, win_probabilities(log_strengths)) @ model
    variance = np.maximum(of_differences(model), of_differences(sandwich))
    ranking = np.argsort(-log_strengths, kind="stable")
    return [
        Separation(
            upper=standing.threads[a],
            lower=standing.threads[b],
            difference=float(log_strengths[a] - log_strengths[b]),
            error=float(np.sqrt(variance[a, b])),
        )
        for a, b in zip(ranking[:-1].tolist(), ranking[1:].tolist(), strict=True)
    ]


def is_settled(standing: Standing) -> bool:
    """Whether all neighbours in the ranking are clearly apart, each pair of neighbours at 95 %."""
    return all(pair.is_clear for pair in separations(standing))
