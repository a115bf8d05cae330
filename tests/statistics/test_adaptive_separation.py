"""When the neighbours in a ranking are told apart."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given

from judge.statistics.matches import Match
from judge.statistics.separation import is_settled, separations
from judge.statistics.standing import Standing, covariance, of_differences, regularised
from tests.statistics.strategies import matches as any_matches


def staircase(threads: Sequence[int], wins: int, losses: int) -> list[Match]:
    """Each thread against the next: so many wins and losses."""
    return [
        Match(better, worse, result)
        for better, worse in pairwise(threads)
        for result in ("a",) * wins + ("b",) * losses
    ]


def test_neighbours_with_many_clear_results_are_settled() -> None:
    standing = Standing(range(1, 5), staircase((3, 1, 4, 2), 60, 10), {})
    assert [(pair.upper, pair.lower) for pair in separations(standing)] == [(3, 1), (1, 4), (4, 2)]
    assert all(pair.difference > 0 for pair in separations(standing))
    assert is_settled(standing)


def test_one_open_pair_of_neighbours_keeps_the_session_going() -> None:
    matches = [*staircase((1, 2, 3), 60, 10), *staircase((3, 4), 12, 10)]
    assert [pair.is_clear for pair in separations(Standing(range(1, 5), matches, {}))] == [True, True, False]
    assert not is_settled(Standing(range(1, 5), matches, {}))


@pytest.mark.parametrize(
    "matches", [[], staircase((1, 2, 3), 1, 0), staircase((1, 2, 3), 2, 0), [Match(1, 2, "tie"), Match(2, 3, "tie")]]
)
def test_no_or_few_results_settle_nothing(matches: list[Match]) -> None:
    assert not is_settled(Standing(range(1, 4), matches, {}))


def test_a_thread_without_matches_is_open() -> None:
    assert not is_settled(Standing(range(1, 5), staircase((1, 2, 3), 60, 10), {}))


def test_the_difference_of_two_threads_has_the_variance_of_its_information() -> None:
    # Ten wins each: strength 0, so each match tells 1/4, and each virtual tie as much for one thread alone.
    (pair,) = separations(Standing((1, 2), staircase((1, 2), 10, 10), {}))
    assert pair.difference == pytest.approx(0.0, abs=1e-9)
    assert pair.error == pytest.approx((2.0 / (2 * 20 * 0.25 + 0.25)) ** 0.5)


def model_error(standing: Standing) -> float:
    """The standard error of the first two neighbours' difference if the model were the whole truth."""
    counts = standing.counts()
    variances = of_differences(covariance(counts.wins + counts.wins.T + counts.ties, regularised(counts)))
    first = separations(standing)[0]
    return float(variances[standing.threads.index(first.upper), standing.threads.index(first.lower)]) ** 0.5


def test_results_that_contradict_each_other_widen_the_error() -> None:
    # 1 always beats 2 and 2 always beats 3, yet 3 always beats 1.
    standing = Standing(range(1, 4), [*staircase((1, 2, 3), 30, 0), *staircase((3, 1), 10, 0)], {})
    assert separations(standing)[0].error > 1.01 * model_error(standing)


def test_a_thread_that_only_wins_is_not_taken_for_certain() -> None:
    standing = Standing(range(1, 3), staircase((1, 2), 20, 0), {})
    assert separations(standing)[0].error == pytest.approx(model_error(standing))


@pytest.mark.parametrize("threads", [[], [1]])
def test_a_ranking_without_neighbours_is_settled(threads: list[int]) -> None:
    assert is_settled(Standing(threads, [], {}))


@given(any_matches)
def test_the_ranking_goes_down_and_holds_each_thread_once(matches: list[Match]) -> None:
    ranks = separations(Standing(range(12), matches, {}))
    assert [pair.lower for pair in ranks[:-1]] == [pair.upper for pair in ranks[1:]]
    assert sorted([ranks[0].upper, *(pair.lower for pair in ranks)]) == list(range(12))
    assert all(pair.difference >= 0 and pair.error > 0 for pair in ranks)
