from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.statistics.intervals import ScoredMatches, clustered
from judge.statistics.matches import PillarMatch
from judge.statistics.matrix import WithinPillar, pillar_matrix
from tests.statistics import strategies
from tests.statistics.reference import DIGITS, SET_NAMES, needs_reference, reference_sets


def match(a, b, result, conflict=None):
    """Threads are numbered pillar x 10 + n."""
    return PillarMatch(a, b, result, conflict, pillar_a=a // 10, pillar_b=b // 10)


HAND = [
    match(10, 30, "a"),
    match(11, 31, "a"),
    match(32, 12, "a"),
    match(30, 10, "tie", "primacy"),
    match(11, 50, "b"),
    match(30, 51, "tie"),
    match(10, 11, "a"),
    match(11, 12, "tie", "mixed"),
]


def test_a_cell_counts_from_its_row_whichever_side_the_plan_named_first():
    cell = pillar_matrix(HAND).cell(1, 3)
    assert cell is not None
    assert (cell.wins_a, cell.wins_b, cell.ties, cell.conflicts, cell.n) == (2, 1, 1, 1, 4)
    assert (cell.win_rate, cell.score_rate) == (2 / 4, 2.5 / 4)


def test_every_meeting_is_seen_from_both_sides():
    matrix = pillar_matrix(HAND)
    assert [(c.pillar_a, c.pillar_b) for c in matrix.cells] == [(1, 3), (1, 5), (3, 1), (3, 5), (5, 1), (5, 3)]
    assert matrix.cell(1, 7) is None


def test_totals_leave_out_pairs_within_the_pillar():
    totals = {total.pillar: total for total in pillar_matrix(HAND).totals}
    first = totals[1]
    assert (first.wins, first.losses, first.ties, first.conflicts, first.n) == (2, 2, 1, 1, 5)
    assert (first.win.value, first.score.rate.value) == (2 / 5, 2.5 / 5)


def test_pairs_within_a_pillar_are_kept_apart():
    assert pillar_matrix(HAND).within == (WithinPillar(1, decisive=1, ties=1, conflicts=1, n=2),)


def test_the_interval_counts_threads_and_not_matches():
    rows = [match(10 + i, 30 + i, "a" if i < 6 else "b") for i in range(9)]
    once, often = pillar_matrix(rows).cell(1, 3), pillar_matrix(rows * 20).cell(1, 3)
    assert once is not None
    assert often is not None
    assert (once.score.threads, often.score.threads, often.n) == (9, 9, 180)
    assert often.score.rate.low == pytest.approx(once.score.rate.low, rel=1e-12)
    assert once.no_clear_difference
    assert often.no_clear_difference


def test_a_clear_difference_is_named_from_both_sides():
    rows = [match(10 + i, 30 + (i + j) % 9, "b" if i == j == 0 else "a") for i in range(9) for j in range(3)]
    matrix = pillar_matrix(rows)
    assert [cell.no_clear_difference for cell in matrix.cells] == [False, False]


def test_rates_are_those_of_the_matches():
    cell = pillar_matrix(HAND).cell(1, 3)
    points = [ScoredMatches(10, 30, 2), ScoredMatches(11, 31, 2), ScoredMatches(12, 32, 0), ScoredMatches(10, 30, 1)]
    wins = [ScoredMatches(10, 30, 2), ScoredMatches(11, 31, 2), ScoredMatches(12, 32, 0), ScoredMatches(10, 30, 0)]
    assert cell is not None
    assert cell.score == clustered(points)
    assert cell.win == clustered(wins).rate


def test_without_matches_the_matrix_is_empty():
    matrix = pillar_matrix([])
    assert (matrix.cells, matrix.totals, matrix.within) == ((), (), ())


@given(strategies.pillar_matches, st.randoms(use_true_random=False))
def test_the_order_of_the_matches_and_the_naming_of_sides_change_no_digit(matches, random: Random):
    other = [strategies.relabelled(row) if random.random() < 0.5 else row for row in matches]
    random.shuffle(other)
    assert pillar_matrix(other) == pillar_matrix(matches)


@given(strategies.pillar_matches)
def test_counts_add_up(matches):
    matrix = pillar_matrix(matches)
    assert sum(cell.n for cell in matrix.cells) + 2 * sum(row.n for row in matrix.within) == 2 * len(matches)
    for cell in matrix.cells:
        mirrored = matrix.cell(cell.pillar_b, cell.pillar_a)
        assert mirrored is not None
        assert (cell.wins_a, cell.wins_b, cell.ties) == (mirrored.wins_b, mirrored.wins_a, mirrored.ties)
        assert cell.wins_a + cell.wins_b + cell.ties == cell.n
        assert cell.conflicts == mirrored.conflicts <= cell.ties
        assert cell.score_rate + mirrored.score_rate == pytest.approx(1, rel=1e-15)
    for total in matrix.totals:
        own = [cell for cell in matrix.cells if cell.pillar_a == total.pillar]
        assert total.wins == sum(cell.wins_a for cell in own)
        assert total.losses == sum(cell.wins_b for cell in own)
        assert total.ties == sum(cell.ties for cell in own)
        assert total.conflicts == sum(cell.conflicts for cell in own)
        assert total.n == total.wins + total.losses + total.ties == sum(cell.n for cell in own)


@needs_reference
@pytest.mark.parametrize("name", SET_NAMES)
def test_reference_matrix_and_totals(name):
    matches, values = reference_sets()[name]
    matrix = pillar_matrix(matches)
    seen = 0
    for a, row in values["pairwise_matrix"].items():
        for b, counts in row.items():
            cell = matrix.cell(a, b)
            if cell is None:
                assert counts["win_rate_ties_half"] is None
                continue
            seen += 1
            assert (cell.wins_a, cell.wins_b, cell.ties) == (counts["wins"], counts["losses"], counts["ties"])
            assert cell.score_rate == pytest.approx(counts["win_rate_ties_half"], rel=DIGITS, abs=DIGITS)
    assert seen == len(matrix.cells) > 0
    for total in matrix.totals:
        record = values["record"][total.pillar]
        assert (total.n, total.wins, total.losses, total.ties) == tuple(
            record[key] for key in ("games", "wins", "losses", "ties")
        )
        assert total.score.rate.value == pytest.approx(record["win_rate_ties_half"], rel=DIGITS)
