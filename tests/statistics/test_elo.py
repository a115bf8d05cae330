from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.elo import EloRating, order_spread, replay, seeded_orders
from judge.statistics.matches import Match
from judge.statistics.outcomes import pair_outcomes
from tests.statistics import strategies
from tests.statistics.reference import DIGITS, SET_NAMES, expected, judgments, needs_reference, reference_sets


def test_one_win_between_equals_moves_sixteen_points():
    assert replay([Match(1, 2, "a")]) == {1: EloRating(1, 1516.0, 1, 1, 0, 0), 2: EloRating(2, 1484.0, 1, 0, 1, 0)}


def test_a_tie_between_equals_moves_nothing():
    assert replay([Match(1, 2, "tie")]) == {1: EloRating(1, 1500.0, 1, 0, 0, 1), 2: EloRating(2, 1500.0, 1, 0, 0, 1)}


def test_the_underdog_wins_more():
    after = replay([Match(1, 2, "a"), Match(1, 2, "b")])
    expected_of_two = 1 / (1 + 10 ** (32 / 400))
    assert after[2].rating == pytest.approx(1484 + 32 * (1 - expected_of_two), rel=1e-15)


def test_without_matches_there_is_no_table():
    assert replay([]) == {}
    assert order_spread([], seed=1) == {}


@given(strategies.matches)
def test_records_add_up_and_no_points_are_made(matches):
    table = replay(matches)
    for rating in table.values():
        assert rating.wins + rating.losses + rating.ties == rating.matches
    assert sum(rating.matches for rating in table.values()) == 2 * len(matches)
    assert sum(r.wins for r in table.values()) == sum(r.losses for r in table.values())
    assert sum(rating.rating for rating in table.values()) == pytest.approx(1500 * len(table), rel=1e-12)


@given(strategies.pillar_matches)
def test_naming_the_sides_the_other_way_round_changes_no_rating(matches):
    table = replay(matches)
    renamed = replay([strategies.relabelled(match) for match in matches])
    assert {i: r.rating for i, r in renamed.items()} == pytest.approx(
        {i: r.rating for i, r in table.items()}, rel=1e-13
    )


@given(strategies.presentations, st.randoms(use_true_random=False))
def test_whatever_order_verdicts_arrived_in_the_table_is_the_same_to_the_last_digit(rows, random: Random):
    threads = {pair: (pair % 4, 4 + pair % 3) for pair in range(9)}
    shuffled = list(rows)
    random.shuffle(shuffled)

    def table(presentations):
        return replay([Match(*threads[o.pair], o.result) for o in pair_outcomes(presentations, 2)])

    assert table(shuffled) == table(rows)


def test_spread_is_what_replaying_each_order_gives():
    random = Random(5)
    matches = [Match(a, 10 + b, random.choice(["a", "b", "tie"])) for a in range(5) for b in range(5)]
    tables = [replay([matches[i] for i in order]) for order in seeded_orders(len(matches), 40, seed=9)]
    spread = order_spread(matches, seed=9, orders=40)
    for item in tables[0]:
        low, high = np.percentile([table[item].rating for table in tables], [2.5, 97.5])
        assert (spread[item].low, spread[item].high) == pytest.approx((low, high), rel=1e-12)
        assert spread[item].low < spread[item].high


def test_spread_is_drawn_from_the_seed():
    matches = [Match(1, 2, "a"), Match(2, 3, "b"), Match(1, 3, "tie"), Match(3, 1, "a")] * 5
    assert order_spread(matches, seed=1) == order_spread(matches, seed=1)
    assert order_spread(matches, seed=1) != order_spread(matches, seed=2)
    assert all(sorted(order) == list(range(20)) for order in seeded_orders(20, 10, seed=1).tolist())


def test_a_start_given_as_a_whole_number_does_not_round_the_spread():
    matches = [Match(1, 2, "a"), Match(2, 3, "b"), Match(1, 3, "tie"), Match(3, 1, "a")]
    assert order_spread(matches, seed=1, start=1000, k=4) == order_spread(matches, seed=1, start=1000.0, k=4.0)


def test_spread_needs_an_order():
    with pytest.raises(ValueError, match="at least 1"):
        order_spread([Match(1, 2, "a")], seed=1, orders=0)


@needs_reference
@pytest.mark.parametrize("name", SET_NAMES)
def test_reference_ratings_and_records(name):
    matches, values = reference_sets()[name]
    table = replay(matches)
    ratings = {str(item): rating.rating for item, rating in table.items()}
    assert ratings == pytest.approx(values["elo_init1500_k32_file_order"], rel=DIGITS)
    assert {str(i): (r.matches, r.wins, r.losses, r.ties) for i, r in table.items()} == {
        item: (r["games"], r["wins"], r["losses"], r["ties"]) for item, r in values["record"].items()
    }


@needs_reference
@pytest.mark.parametrize("name", ["evalica_simple", "evalica_food"])
def test_reference_ratings_with_another_start_and_k(name):
    matches, values = reference_sets()[name]
    ratings = {item: rating.rating for item, rating in replay(matches, start=1000, k=4).items()}
    assert ratings == pytest.approx(values["elo_init1000_k4_file_order"], rel=DIGITS)


@needs_reference
def test_reference_example_of_three():
    values = expected()["evalica_readme_example"]
    matches = [Match(a, b, winner.lower()) for a, b, winner in values["rows"]]
    for key, start, k in (("elo_init1500_k32", 1500, 32), ("elo_init1000_k30", 1000, 30)):
        assert {i: r.rating for i, r in replay(matches, start, k).items()} == pytest.approx(values[key], rel=DIGITS)


@needs_reference
def test_reference_mean_over_random_orders_lies_in_the_spread():
    data = judgments("qlora_vicuna_gpt4", rows_are_pairs=True)
    spread = order_spread(data.matches(data.outcomes(1)), seed=3, orders=1000, start=1000, k=4)
    published = expected()["qlora_vicuna_gpt4"]["elo_init1000_k4_mean_of_10000_random_orders"]
    for item, values in published.items():
        assert (spread[item].high - spread[item].low) / (2 * 1.96 * values["sd"]) == pytest.approx(1, abs=0.1)
        assert (spread[item].high + spread[item].low) / 2 == pytest.approx(values["mean"], abs=0.2 * values["sd"])
