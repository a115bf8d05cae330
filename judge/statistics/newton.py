"""Newton's method for the Bradley-Terry log-likelihood of a matrix of (half) wins."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
TOLERANCE = 1e-10
ROUNDING = 1e-7  # a step this short that is not shorter than the one before is rounding, not progress
MAX_STEPS = 200
LONGEST_STEP = 2.0  # further out the curvature that the step was computed from says nothing any more


def win_probabilities(log_strengths: Floats) -> Floats:
    """Probability that row beats column: expit of the difference of log-strengths; shape (n, n)."""
    difference = log_strengths[:, None] - log_strengths[None, :]
    return np.asarray(np.exp(-np.logaddexp(0.0, -difference)))


def information(games: Floats, expected: Floats) -> Floats:
    """Fisher information of the log-strengths: the Laplacian of games x p x (1 - p)."""
    weights = games * expected * expected.T
    return np.asarray(np.diag(weights.sum(axis=1)) - weights)


def maximise(
    wins: Floats,
    virtual_ties: float = 0.0,
    start: Floats | None = None,
    fixed: npt.NDArray[np.bool_] | None = None,
) -> Floats:
    """Log-strengths that maximise the likelihood of `wins` (n x n), to a last step below 1e-10 (or, where
    strengths lie so far apart that doubles cannot say it that closely, as near as they can).

    Without virtual ties the mean is 0 and the maximum must exist (one strongly connected component). With them each
    free thread also has that many ties against a thread of strength 0, so that a maximum always exists; `fixed`
    threads keep their `start`. Raises ArithmeticError if there is no convergence.
    """
    n = len(wins)
    theta = np.zeros(n) if start is None else start.copy()
    free = np.flatnonzero(np.ones(n, dtype=np.bool_) if fixed is None else ~fixed)
    games = wins + wins.T
    value = _log_likelihood(wins, theta, virtual_ties, free)
    previous = np.inf
    for _ in range(MAX_STEPS):
        step = _newton_step(wins, games, theta, virtual_ties, free)
        longest = float(np.abs(step).max())
        size = min(1.0, LONGEST_STEP / longest) if longest else 1.0
        while True:
            candidate = theta.copy()
            candidate[free] += size * step
            reached = _log_likelihood(wins, candidate, virtual_ties, free)
            if reached >= value - 1e-12 * (1.0 + abs(value)) or size < 1e-6:
                break
            size /= 2.0
        theta, value = candidate, reached
        if longest < TOLERANCE or previous <= longest < ROUNDING:
            return theta if virtual_ties else theta - theta.mean()
        previous = longest
    raise ArithmeticError("Bradley-Terry fit did not converge")


def _newton_step(wins: Floats, games: Floats, theta: Floats, virtual_ties: float, free: npt.NDArray[np.intp]) -> Floats:
    expected = win_probabilities(theta)
    # wins - games x expected, written so that nothing large cancels where a win is all but certain.
    gradient = (wins * expected.T - wins.T * expected).sum(axis=1)[free]
    curvature = information(games, expected)[np.ix_(free, free)]
    if virtual_ties:
        won, lost = np.exp(-np.logaddexp(0.0, -theta[free])), np.exp(-np.logaddexp(0.0, theta[free]))
        gradient += virtual_ties * (lost - won) / 2.0
        curvature[np.diag_indices(len(free))] += virtual_ties * won * lost
    else:
        # Only differences matter: this fixes the mean without changing any difference.
        curvature += 1.0 / len(free)
    return np.asarray(np.linalg.solve(curvature, gradient))


def _log_likelihood(wins: Floats, theta: Floats, virtual_ties: float, free: npt.NDArray[np.intp]) -> float:
    difference = theta[:, None] - theta[None, :]
    value = -float((wins * np.logaddexp(0.0, -difference)).sum())
    own = theta[free]
    return value - virtual_ties / 2.0 * float((np.logaddexp(0.0, own) + np.logaddexp(0.0, -own)).sum())
