from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.agreement import cohen_kappa
from judge.statistics.outcomes import Presentation
from judge.statistics.position import consistency_label, position_summary
from tests.statistics import strategies
from tests.statistics.reference import DIGITS, expected, judgments, needs_reference

SLOT_MIRROR = {"A": "B", "B": "A", "TIE": "TIE"}


def swapped_pairs(*verdicts):
    """One pair for each (slot won in order 1, slot won in order 2)."""
    return [
        Presentation(pair, 1, order, winner)
        for pair, both in enumerate(verdicts)
        for order, winner in enumerate(both, start=1)
    ]


def test_a_summary_by_hand():
    summary = position_summary(
        swapped_pairs(("A", "B"), ("A", "B"), ("B", "A"), ("TIE", "TIE"), ("A", "A"), ("B", "B"), ("A", "TIE"))
    )
    assert (summary.pairs, summary.consistent_wins, summary.consistent_ties) == (7, 3, 1)
    assert (summary.primacy, summary.recency, summary.mixed, summary.inconsistent) == (1, 1, 1, 3)
    assert summary.consistency_rate == 4 / 7
    assert summary.consistency_label == "fair"
    assert (summary.first_slot_wins, summary.second_slot_wins, summary.tie_verdicts) == (6, 5, 3)
    assert summary.first_slot is not None
    assert summary.first_slot.value == 6 / 11
    assert (summary.sign_test_p, summary.dominant_bias) == (1.0, "balanced")


@pytest.mark.parametrize(
    ("primacy", "recency", "p_value", "bias"),
    [
        (1, 0, 1.0, "balanced"),
        (5, 0, 0.0625, "balanced"),
        (6, 0, 0.03125, "primacy"),
        (0, 6, 0.03125, "recency"),
        (7, 5, 0.7744140625, "balanced"),
    ],
)
def test_a_bias_is_named_only_when_the_exact_test_says_so(primacy, recency, p_value, bias):
    summary = position_summary(swapped_pairs(*[("A", "A")] * primacy, *[("B", "B")] * recency))
    assert summary.sign_test_p == pytest.approx(p_value, rel=1e-12)
    assert summary.dominant_bias == bias


@pytest.mark.parametrize(
    ("rate", "label"),
    [
        (1.0, "excellent"),
        (0.8, "excellent"),
        (0.79, "good"),
        (0.6, "good"),
        (0.59, "fair"),
        (0.4, "fair"),
        (0.39, "poor"),
    ],
)
def test_consistency_has_a_word(rate, label):
    assert consistency_label(rate) == label


def test_incomplete_pairs_count_for_the_slots_only():
    summary = position_summary([Presentation(1, 1, 1, "A"), Presentation(2, 1, 2, "B")])
    assert (summary.pairs, summary.consistency_rate, summary.consistency_label, summary.kappa) == (0, None, None, None)
    assert (summary.first_slot_wins, summary.second_slot_wins) == (1, 1)
    assert (summary.sign_test_p, summary.dominant_bias) == (None, "balanced")


def test_without_verdicts_nothing_is_claimed():
    summary = position_summary([])
    assert (summary.pairs, summary.first_slot, summary.consistency_rate) == (0, None, None)


def test_kappa_by_hand():
    """Agreement 3/4; chance 1/2 x 1/4 + 1/2 x 3/4 = 1/2."""
    assert cohen_kappa([("a", "a"), ("b", "b"), ("b", "b"), ("a", "b")]) == 0.5


def test_kappa_is_none_where_chance_always_agrees():
    assert cohen_kappa([("tie", "tie")] * 3) is None
    assert cohen_kappa([]) is None


@given(strategies.presentations, st.randoms(use_true_random=False))
def test_the_order_in_which_verdicts_arrive_changes_nothing(rows, random: Random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert position_summary(shuffled) == position_summary(rows)


@given(strategies.presentations)
def test_counts_add_up(rows):
    summary = position_summary(rows)
    assert summary.consistent_wins + summary.consistent_ties + summary.inconsistent == summary.pairs
    assert summary.first_slot_wins + summary.second_slot_wins + summary.tie_verdicts == len(rows)


@given(strategies.presentations)
def test_exchanging_the_slots_mirrors_the_bias(rows):
    here = position_summary(rows)
    there = position_summary(
        Presentation(row.pair, row.judge, row.position_order, SLOT_MIRROR[row.winner])  # type: ignore[arg-type]
        for row in rows
    )
    assert (there.primacy, there.recency, there.mixed) == (here.recency, here.primacy, here.mixed)
    assert (there.first_slot_wins, there.second_slot_wins) == (here.second_slot_wins, here.first_slot_wins)
    assert (there.consistency, there.kappa) == (here.consistency, here.kappa)


@given(strategies.presentations)
def test_naming_the_threads_the_other_way_round_leaves_the_summary_alone(rows):
    renamed = [Presentation(row.pair, row.judge, 3 - row.position_order, row.winner) for row in rows]
    assert position_summary(renamed) == position_summary(rows)


@needs_reference
def test_reference_position_swap():
    summary = position_summary(judgments("qlora_vicuna_gpt4").presentations)
    values = expected()["qlora_vicuna_gpt4"]["consistency"]
    assert summary.pairs == values["complete_pairs"]
    assert summary.consistent_wins == values["consistent_decisive"]
    assert summary.consistent_ties == values["consistent_tie"]
    assert summary.inconsistent == values["inconsistent"]
    assert summary.primacy == values["first_slot_twice"]
    assert summary.recency == values["second_slot_twice"]
    assert summary.mixed == values["one_tie_one_decisive"]
    slots = {"FIRST": summary.first_slot_wins, "SECOND": summary.second_slot_wins, "TIE": summary.tie_verdicts}
    assert slots == values["slot_counts"]
    assert summary.first_slot is not None
    assert summary.first_slot.value == pytest.approx(values["first_slot_share_of_decisive_rows"], rel=DIGITS)
    assert summary.consistency_rate == pytest.approx(values["consistency_rate"], rel=DIGITS)
    assert summary.consistency_label == "good"
    assert summary.sign_test_p == pytest.approx(values["sign_test_p_first_vs_second_twice"], rel=DIGITS)
    assert summary.kappa == pytest.approx(values["cohen_kappa_order1_vs_order2"], rel=DIGITS)
    assert summary.dominant_bias == "primacy"
