import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.bradley_terry import aggregate, fit
from judge.statistics.components import strong_components
from judge.statistics.matches import Match
from tests.statistics import strategies
from tests.statistics.reference import DIGITS, SET_NAMES, needs_reference, reference_sets

POINTS = 400 / math.log(10)
CIRCLE = [Match(1, 2, "a"), Match(2, 3, "a"), Match(3, 1, "a")]


def test_counts_hold_wins_by_row_and_ties_on_both_sides():
    counts = aggregate([Match(2, 1, "a"), Match(1, 2, "a"), Match(1, 2, "a"), Match(2, 1, "tie")])
    assert counts.items == (1, 2)
    assert counts.wins.tolist() == [[0, 2], [1, 0]]
    assert counts.ties.tolist() == [[0, 1], [1, 0]]
    assert counts.half_wins.tolist() == [[0, 2.5], [1.5, 0]]


def test_two_threads_by_hand():
    """Three wins to one: the difference is ln 3, its sandwich variance 1 / (n p q), half of it on each side."""
    ratings = fit(aggregate([Match(1, 2, "a")] * 3 + [Match(1, 2, "b")]))
    assert ratings[1].log_strength == pytest.approx(math.log(3) / 2, rel=1e-12)
    assert ratings[1].rating == pytest.approx(1500 + POINTS * math.log(3) / 2, rel=1e-14)
    reach = POINTS * 1.959963984540054 * math.sqrt(1 / (4 * 0.75 * 0.25)) / 2
    assert (ratings[1].low, ratings[1].high) == pytest.approx((ratings[1].rating - reach, ratings[1].rating + reach))
    assert ratings[2].log_strength == pytest.approx(-math.log(3) / 2, rel=1e-12)


def test_ties_narrow_the_sandwich_interval_as_they_should():
    """Between equals, t ties of n: squared scores are (n - t) / 4, information n / 4."""
    [rating, _] = fit(aggregate([Match(1, 2, r) for r in ("a", "b", "tie", "tie", "tie", "tie")])).values()  # type: ignore[arg-type]
    error = math.sqrt((2 / 4) / (6 / 4) ** 2) / 2
    assert rating.rating == pytest.approx(1500)
    assert rating.high == pytest.approx(1500 + POINTS * 1.959963984540054 * error)


def test_a_circle_makes_all_equal():
    assert [r.rating for r in fit(aggregate(CIRCLE)).values()] == pytest.approx([1500] * 3)


def test_without_matches_there_is_no_table():
    assert fit(aggregate([])) == {}


def test_who_never_lost_or_never_won_is_flagged_finite_and_outside_the_rest():
    ratings = fit(aggregate([*CIRCLE, Match(9, 1, "a"), Match(9, 2, "a"), Match(0, 1, "b"), Match(0, 3, "b")]))
    assert [ratings[i].flag for i in (1, 2, 3)] == [None] * 3
    assert (ratings[9].flag, ratings[0].flag) == ("never_lost", "never_won")
    assert ratings[9].is_regularised
    assert (ratings[9].low, ratings[9].high) == (None, None)
    assert ratings[0].rating < 1500 < ratings[9].rating < 2500


def test_flagged_threads_do_not_move_the_others():
    alone = fit(aggregate([*CIRCLE, Match(1, 2, "a")]))
    joined = fit(aggregate([*CIRCLE, Match(1, 2, "a"), Match(9, 1, "a"), Match(8, 3, "b")]))
    for item in (1, 2, 3):
        assert joined[item] == alone[item]


def test_a_regularised_value_is_the_fit_with_one_virtual_tie_against_the_average():
    """One win and half a win of two against strength 0: expit(x) = 3/4."""
    ratings = fit(aggregate([*CIRCLE, Match(9, 1, "a")]))
    assert ratings[9].log_strength == pytest.approx(math.log(3), rel=1e-10)


def test_who_is_not_connected_is_flagged():
    ratings = fit(aggregate([*CIRCLE, Match(7, 8, "a"), Match(8, 7, "a")]))
    assert (ratings[7].flag, ratings[8].flag) == ("not_connected", "not_connected")
    assert [ratings[i].flag for i in (1, 2, 3)] == [None] * 3


def test_without_a_connected_majority_all_are_flagged_and_the_mean_is_still_1500():
    ratings = fit(aggregate([Match(1, 2, "a"), Match(2, 3, "a"), Match(3, 4, "a")]))
    assert [ratings[i].flag for i in (1, 2, 3, 4)] == ["never_lost", "not_connected", "not_connected", "never_won"]
    values = [rating.rating for rating in ratings.values()]
    assert values == sorted(values, reverse=True)
    assert sum(values) / 4 == pytest.approx(1500)


def test_components_are_groups_linked_both_ways_numbered_by_first_member():
    wins = np.zeros((4, 4))
    wins[3, 0] = wins[0, 2] = wins[2, 0] = wins[2, 1] = 1
    assert strong_components(wins).tolist() == [0, 1, 0, 2]


def test_wide_spreads_converge():
    matches = [Match(i, i + 1, "a") for i in range(8) for _ in range(1000)] + [Match(i, i + 1, "b") for i in range(8)]
    strengths = [rating.log_strength for rating in fit(aggregate(matches)).values()]
    assert np.diff(strengths) == pytest.approx([-math.log(1000)] * 8, rel=1e-9)


@given(strategies.matches)
def test_at_the_maximum_every_fitted_thread_has_won_what_it_was_expected_to(matches):
    counts = aggregate(matches)
    ratings = fit(counts)
    fitted = [i for i, item in enumerate(counts.items) if not ratings[item].is_regularised]
    strengths = {i: ratings[counts.items[i]].log_strength for i in fitted}
    for i in fitted:
        won = sum(counts.half_wins[i, j] for j in fitted)
        expected = sum(
            (counts.half_wins[i, j] + counts.half_wins[j, i]) / (1 + math.exp(strengths[j] - strengths[i]))
            for j in fitted
            if j != i
        )
        assert won == pytest.approx(expected, abs=1e-8)
    if fitted:
        assert sum(strengths.values()) == pytest.approx(0, abs=1e-9)


@given(strategies.pillar_matches, st.randoms(use_true_random=False))
def test_the_order_of_the_matches_and_the_naming_of_sides_change_no_digit(matches, random: Random):
    other = [strategies.relabelled(row) if random.random() < 0.5 else row for row in matches]
    random.shuffle(other)
    assert fit(aggregate(other)) == fit(aggregate(matches))


@given(strategies.matches)
def test_every_value_is_finite_and_a_value_has_an_interval_or_a_flag(matches):
    for rating in fit(aggregate(matches)).values():
        assert math.isfinite(rating.rating)
        if rating.flag is None:
            assert rating.low is not None
            assert rating.high is not None
            assert rating.low <= rating.rating <= rating.high
        else:
            assert (rating.low, rating.high) == (None, None)


@given(strategies.matches, st.randoms(use_true_random=False))
def test_it_converges_where_counts_are_lopsided_a_thousandfold(matches, random: Random):
    repeated = [match for match in matches for _ in range(random.choice([1, 1, 1000]))]
    assert all(math.isfinite(rating.rating) for rating in fit(aggregate(repeated)).values())


@given(strategies.matches)
def test_turning_every_result_round_turns_the_ratings_round(matches):
    turned = fit(aggregate([Match(m.thread_b, m.thread_a, m.result) for m in matches]))
    for item, rating in fit(aggregate(matches)).items():
        assert turned[item].log_strength == pytest.approx(-rating.log_strength, abs=1e-8)


@needs_reference
@pytest.mark.parametrize("name", SET_NAMES)
def test_reference_strengths(name):
    matches, values = reference_sets()[name]
    ratings = fit(aggregate(matches))
    assert set(ratings) == set(values["bradley_terry"])
    for item, published in values["bradley_terry"].items():
        assert ratings[item].rating == pytest.approx(published["elo_scale_mean_1500"], rel=DIGITS)
        assert ratings[item].log_strength == pytest.approx(published["log_strength_mean_0"], rel=1e-10)
        assert ratings[item].flag is None
