"""Taking turns: no group is ever a whole turn from its share."""

from collections import Counter
from fractions import Fraction
from itertools import islice

from hypothesis import example, given
from hypothesis import strategies as st

from judge.domain.interleaving import interleaved


@given(st.lists(st.integers(0, 40), max_size=12))
@example([1, 1, 7, 7])
@example([1, 1, 1, 97])
@example([5, 5, 5, 1, 25, 49])
def test_every_group_keeps_to_its_share_as_closely_as_any_rule_can_promise(sizes: list[int]):
    total, groups = sum(sizes), sum(size > 0 for size in sizes)
    most = 1 - Fraction(1, 2 * groups - 2) if groups > 1 else Fraction(0)
    turns = list(interleaved(sizes))
    assert Counter(turns) == Counter({group: size for group, size in enumerate(sizes) if size})
    done = Counter[int]()
    for turn, group in enumerate(turns, 1):
        done[group] += 1
        assert all(abs(done[index] - Fraction(size * turn, total)) <= most for index, size in enumerate(sizes))


def test_equal_groups_simply_take_turns():
    assert list(interleaved([3, 3, 3])) == [0, 1, 2] * 3


def test_nothing_is_listed_beforehand():
    turns = interleaved([10**15, 2 * 10**15, 1])
    assert Counter(islice(turns, 3_000)) == {0: 1_000, 1: 2_000}


def test_no_group_has_a_turn_where_there_is_none():
    assert list(interleaved([])) == list(interleaved([0, 0])) == []
