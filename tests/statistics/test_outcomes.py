from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.agreement import cohen_kappa
from judge.statistics.matches import Match, PairSides, PillarMatch, pillar_matches
from judge.statistics.outcomes import (
    PairOutcome,
    Presentation,
    majority,
    orders_by_pair,
    pair_outcomes,
    read_outcomes,
    unswap,
)
from tests.statistics import strategies
from tests.statistics.reference import DIGITS, expected, judgments, needs_reference

SLOT_MIRROR = {"A": "B", "B": "A", "TIE": "TIE"}


@pytest.mark.parametrize(
    ("first", "second", "result", "conflict"),
    [
        ("A", "B", "a", None),
        ("B", "A", "b", None),
        ("TIE", "TIE", "tie", None),
        ("A", "A", "tie", "primacy"),
        ("B", "B", "tie", "recency"),
        ("A", "TIE", "tie", "mixed"),
        ("TIE", "A", "tie", "mixed"),
        ("B", "TIE", "tie", "mixed"),
        ("TIE", "B", "tie", "mixed"),
    ],
)
def test_both_orders_make_one_outcome_by_thread(first, second, result, conflict):
    rows = [Presentation(7, 1, 2, second), Presentation(7, 1, 1, first)]
    assert pair_outcomes(rows, 2) == [PairOutcome(7, 1, result, conflict)]


def test_a_pair_counts_only_when_all_its_orders_are_in():
    rows = [Presentation(1, 1, 1, "A"), Presentation(2, 1, 1, "A"), Presentation(2, 1, 2, "B")]
    assert [outcome.pair for outcome in pair_outcomes(rows, 2)] == [2]


def test_orders_of_different_judges_are_never_put_together():
    assert pair_outcomes([Presentation(1, 1, 1, "A"), Presentation(1, 2, 2, "B")], 2) == []


@pytest.mark.parametrize(
    ("order", "winner", "result"), [(1, "A", "a"), (1, "TIE", "tie"), (2, "A", "b"), (2, "B", "a")]
)
def test_without_swap_the_one_verdict_is_the_outcome(order, winner, result):
    assert pair_outcomes([Presentation(1, 1, order, winner)], 1) == [PairOutcome(1, 1, result)]


@pytest.mark.parametrize(
    "rows",
    [
        [Presentation(1, 1, 1, "A"), Presentation(1, 1, 1, "A")],
        [Presentation(1, 1, 3, "A")],
        [Presentation(1, 1, 1, "a")],  # type: ignore[arg-type]
        [Presentation(1, 1, 1, "")],  # type: ignore[arg-type]
    ],
)
def test_contradictory_or_invalid_verdicts_are_refused(rows):
    with pytest.raises(ValueError, match="verdict"):
        pair_outcomes(rows, 2)


def test_more_orders_than_expected_are_refused():
    with pytest.raises(ValueError, match="more than 1 order"):
        pair_outcomes([Presentation(1, 1, 1, "A"), Presentation(1, 1, 2, "B")], 1)
    with pytest.raises(ValueError, match="must be 1 or 2"):
        pair_outcomes([], 3)


@pytest.mark.parametrize(
    ("votes", "result"),
    [
        (["a"], "a"),
        (["a", "a", "b"], "a"),
        (["b", "tie", "b"], "b"),
        (["a", "b", "tie"], "tie"),
        (["a", "b"], "tie"),
        (["a", "tie"], "tie"),
        (["tie", "tie", "a"], "tie"),
    ],
)
def test_majority_is_more_than_half_of_the_judges_else_a_tie(votes, result):
    outcomes = [PairOutcome(3, judge, vote) for judge, vote in enumerate(votes)]
    assert majority(outcomes) == [PairOutcome(3, None, result)]


def test_majority_keeps_a_conflict_that_most_judges_share():
    shared = [PairOutcome(1, 1, "tie", "primacy"), PairOutcome(1, 2, "tie", "primacy"), PairOutcome(1, 3, "a")]
    differing = [PairOutcome(1, 1, "tie", "primacy"), PairOutcome(1, 2, "tie", "recency"), PairOutcome(1, 3, "tie")]
    assert majority(shared) == [PairOutcome(1, None, "tie", "primacy")]
    assert majority(differing) == [PairOutcome(1, None, "tie", None)]


def test_majority_can_wait_for_all_judges():
    outcomes = [PairOutcome(1, 1, "a"), PairOutcome(1, 2, "a"), PairOutcome(2, 1, "a")]
    assert [outcome.pair for outcome in majority(outcomes, judges_expected=2)] == [1]


def test_the_three_readings_of_several_judges():
    outcomes = [PairOutcome(1, 1, "a"), PairOutcome(1, 2, "b"), PairOutcome(1, 3, "b")]
    assert read_outcomes(outcomes) == [PairOutcome(1, None, "b")]
    assert read_outcomes(outcomes, "each") == outcomes
    assert read_outcomes(outcomes, 1) == [PairOutcome(1, 1, "a")]
    with pytest.raises(ValueError, match="unknown reading"):
        read_outcomes(outcomes, "all")  # type: ignore[arg-type]


def test_matches_take_threads_and_pillars_from_the_plan():
    sides = {5: PairSides(10, 20, 1, 3)}
    [match] = pillar_matches([PairOutcome(5, 1, "tie", "mixed")], sides)
    assert match == PillarMatch(10, 20, "tie", "mixed", pillar_a=1, pillar_b=3)


def test_impossible_matches_are_refused():
    with pytest.raises(ValueError, match="meet itself"):
        Match(1, 1, "a")
    with pytest.raises(ValueError, match="is a tie"):
        Match(1, 2, "a", "primacy")
    with pytest.raises(ValueError, match="result must be"):
        Match(1, 2, "A")  # type: ignore[arg-type]


@given(strategies.presentations, st.randoms(use_true_random=False))
def test_the_order_in_which_verdicts_arrive_changes_nothing(rows, random: Random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert pair_outcomes(shuffled, 2) == pair_outcomes(rows, 2)
    assert majority(pair_outcomes(shuffled, 2)) == majority(pair_outcomes(rows, 2))


@given(strategies.presentations)
def test_naming_the_threads_the_other_way_round_mirrors_every_outcome(rows):
    renamed = [Presentation(row.pair, row.judge, 3 - row.position_order, row.winner) for row in rows]
    mirrored = [
        PairOutcome(o.pair, o.judge, strategies.OPPOSITE[o.result], o.conflict)  # type: ignore[arg-type]
        for o in pair_outcomes(rows, 2)
    ]
    assert pair_outcomes(renamed, 2) == mirrored


@given(strategies.presentations)
def test_exchanging_the_slots_turns_primacy_into_recency(rows):
    exchanged = [Presentation(r.pair, r.judge, r.position_order, SLOT_MIRROR[r.winner]) for r in rows]  # type: ignore[arg-type]
    before = Counter(outcome.conflict for outcome in pair_outcomes(rows, 2))
    after = Counter(outcome.conflict for outcome in pair_outcomes(exchanged, 2))
    assert (before["primacy"], before["recency"], before["mixed"]) == (
        after["recency"],
        after["primacy"],
        after["mixed"],
    )


@given(strategies.presentations)
def test_every_complete_pair_has_exactly_one_outcome_and_one_majority(rows):
    complete = [key for key, orders in orders_by_pair(rows).items() if len(orders) == 2]
    outcomes = pair_outcomes(rows, 2)
    assert [(outcome.pair, outcome.judge) for outcome in outcomes] == complete
    assert [outcome.pair for outcome in majority(outcomes)] == sorted({pair for pair, _ in complete})


@given(strategies.presentations)
def test_with_one_judge_the_majority_is_that_judge(rows):
    own = [outcome for outcome in pair_outcomes(rows, 2) if outcome.judge == 1]
    assert [(o.pair, o.result, o.conflict) for o in majority(own)] == [(o.pair, o.result, o.conflict) for o in own]


@given(strategies.winners, st.sampled_from([1, 2]))
def test_unswapping_and_swapping_back_is_the_identity(winner, order):
    assert unswap(unswap(winner, order).upper(), order).upper() == winner


@needs_reference
def test_reference_pairs_have_the_published_outcomes_and_conflicts():
    values = expected()["qlora_vicuna_gpt4"]
    outcomes = judgments("qlora_vicuna_gpt4").outcomes(2)
    results = Counter(outcome.result.upper() for outcome in outcomes)
    conflicts = Counter(outcome.conflict for outcome in outcomes)
    assert results == values["consolidated"]["winner_counts"]
    assert conflicts["primacy"] == values["consistency"]["first_slot_twice"]
    assert conflicts["recency"] == values["consistency"]["second_slot_twice"]
    assert conflicts["mixed"] == values["consistency"]["one_tie_one_decisive"]


@needs_reference
def test_reference_majority_of_three_people_is_the_published_one():
    data = judgments("pandalm")
    humans = {data.judges[f"human{i}"] for i in (1, 2, 3)}
    readings = majority(outcome for outcome in data.outcomes(1) if outcome.judge in humans)
    assert Counter(o.result.upper() for o in readings) == expected()["pandalm"]["human_majority_counts"]


@needs_reference
def test_reference_agreement_of_every_two_judges_is_the_published_one():
    data = judgments("pandalm")
    by_judge = {name: {o.pair: o.result for o in read_outcomes(data.outcomes(1), n)} for name, n in data.judges.items()}
    published = expected()["pandalm"]["pairwise_kappa"]
    assert len(published) == 10
    for names, values in published.items():
        first, second = (by_judge[name] for name in names.split(" vs "))
        assert cohen_kappa((first[p], second[p]) for p in first) == pytest.approx(values["cohen_kappa"], rel=DIGITS)
