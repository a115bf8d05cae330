"""One-to-one matchings are as large as they can be."""

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from judge.domain.matching import match_one_to_one

forbidden_sets = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), forbidden_sets)
def test_a_matching_is_as_large_as_any_matching_can_be(left_size, right_size, wanted, forbidden):
    left, right = list(range(left_size)), list(range(right_size))
    size = min(wanted, left_size, right_size)
    pairs = match_one_to_one(left, right, size, lambda a, b: (a, b) not in forbidden)
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs)
    assert not set(pairs) & forbidden
    padded = right + [-1] * left_size
    best = max(
        sum(b >= 0 and (a, b) not in forbidden for a, b in zip(left, chosen, strict=True))
        for chosen in permutations(padded, left_size)
    )
    assert len(pairs) == min(size, best)


def test_a_thousand_threads_are_matched_without_asking_about_every_two_of_them():
    threads = list(range(1_000))
    asked = 0

    def others(a: int, b: int) -> bool:
        nonlocal asked
        asked += 1
        return a != b

    pairs = match_one_to_one(threads, threads, len(threads), others)
    assert len(pairs) == len(threads)
    assert asked < 10 * len(threads)
