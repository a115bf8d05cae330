"""Tournaments: everyone against everyone once in each repetition, evenly in any part of it, and never in a list."""

import tracemalloc
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.domain.planning import PlanConfig, PlannedPair, plan_pairs, pools
from judge.domain.states import ComparisonMode
from tests.domain.plans import (
    CONFIG,
    any_pillars,
    by_repetition,
    configs_of,
    disjoint,
    disjoint_pillars,
    pillar_pair,
    planned,
    threads_of,
    tournaments,
)

ROUND_ROBIN = replace(CONFIG, comparison_mode=ComparisonMode.ROUND_ROBIN, repetitions_per_pair=1)
FREE_FOR_ALL = replace(ROUND_ROBIN, comparison_mode=ComparisonMode.FREE_FOR_ALL)


def expected_meetings(config: PlanConfig, pillars: dict[int, list[int]]) -> set[frozenset[int]]:
    """Who has to meet, looked up the slow way."""
    taking_part = pools(config, pillars)
    if config.comparison_mode == ComparisonMode.FREE_FOR_ALL:
        return set(map(frozenset, combinations(set().union(*taking_part.values()), 2)))
    return {
        frozenset((a, b))
        for p, q in combinations(taking_part, 2)
        for a in taking_part[p]
        for b in taking_part[q]
        if a != b
    }


def uses(pairs: Iterable[PlannedPair]) -> Counter[int]:
    return Counter(thread for pair in pairs for thread in (pair.thread_a, pair.thread_b))


def spread(counts: Mapping[int, int], threads: Iterable[int]) -> int:
    values = [counts.get(thread, 0) for thread in threads]
    return max(values) - min(values)


@given(tournaments, any_pillars)
def test_every_repetition_is_a_whole_tournament(config, pillars):
    expected = expected_meetings(config, pillars)
    groups = by_repetition(planned(config, pillars))
    assert len(groups) == (config.repetitions_per_pair if expected else 0)
    for group in groups.values():
        assert len(group) == len(expected)
        assert set(map(threads_of, group)) == expected


@given(tournaments, any_pillars)
def test_the_next_repetition_shows_first_what_the_one_before_showed_second(config, pillars):
    orders: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for pair in planned(config, pillars):
        orders[pair.repetition % 2].add((pair.thread_a, pair.thread_b))
    if orders[0]:
        assert {(b, a) for a, b in orders[0]} == orders[1]


def test_every_repetition_has_a_fresh_order():
    config = replace(FREE_FOR_ALL, repetitions_per_pair=6)
    groups = by_repetition(list(plan_pairs(config, disjoint([6, 6]))))
    assert len({tuple(map(threads_of, group)) for group in groups.values()}) == 6


@given(tournaments, any_pillars)
def test_every_thread_is_shown_first_half_the_time(config, pillars):
    balance: Counter[int] = Counter()
    for pair in planned(config, pillars):
        balance.update({pair.thread_a: 1, pair.thread_b: -1})
    # Where a thread has no opponents in the midst of the row, it is one off on both sides of the gap.
    most = 1 if config.comparison_mode == ComparisonMode.FREE_FOR_ALL else 2
    assert all(abs(value) <= most for value in balance.values())


@given(tournaments, disjoint_pillars)
def test_the_first_pairs_of_two_pillars_use_all_their_threads_equally_often(config, pillars):
    taking_part = pools(config, pillars)
    for group in by_repetition(planned(config, pillars)).values():
        done: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
        for pair in group:
            low, high = pillar_pair(pair)
            done[low, high].update(threads_of(pair))
            # Within a pillar one thread of an odd number rests in each round.
            most = 1 if low != high else 1 + len(taking_part[low]) % 2
            assert all(spread(done[low, high], taking_part[pillar]) <= most for pillar in (low, high))


@given(configs_of(ComparisonMode.FREE_FOR_ALL), disjoint_pillars, st.integers(0, 60), st.integers(1, 60))
def test_so_does_any_stretch_of_them(config, pillars, start, length):
    taking_part = pools(config, pillars)
    stretches: dict[tuple[int, int], list[PlannedPair]] = defaultdict(list)
    for pair in by_repetition(planned(config, pillars)).get(1, []):
        stretches[pillar_pair(pair)].append(pair)
    for numbers, pairs in stretches.items():
        counts = uses(pairs[start : start + length])
        assert all(spread(counts, taking_part[pillar]) <= 3 for pillar in numbers)


def test_half_a_session_has_used_all_threads_about_equally_often():
    pillars = disjoint([10, 20, 30])
    plan = list(plan_pairs(FREE_FOR_ALL, pillars))
    counts = uses(plan[: len(plan) // 2])
    assert all(25 <= counts[thread] <= 34 for threads in pillars.values() for thread in threads)  # of 59 games


def test_shared_threads_stand_for_each_of_their_pillars_equally_often():
    shared, others = list(range(12)), list(range(100, 112))
    plan = list(plan_pairs(ROUND_ROBIN, {1: shared, 2: shared, 3: others}))
    assert Counter(map(pillar_pair, plan)) == {(1, 2): 66, (1, 3): 72, (2, 3): 72}
    stands_for = Counter(
        side for pair in plan for side in ((pair.thread_a, pair.pillar_a), (pair.thread_b, pair.pillar_b))
    )
    for thread in shared:
        assert stands_for[thread, 1] + stands_for[thread, 2] == 23
        assert 9 <= stands_for[thread, 1] <= 14


def test_threads_of_one_pillar_alone_never_meet_in_round_robin():
    plan = list(plan_pairs(ROUND_ROBIN, {1: [1, 2, 3], 2: [3, 4]}))
    assert {(1, 2), (4, 4)}.isdisjoint((min(meeting), max(meeting)) for meeting in map(threads_of, plan))
    assert len(plan) == 5  # 1-3, 1-4, 2-3, 2-4, 3-4


@pytest.mark.parametrize("config", [ROUND_ROBIN, FREE_FOR_ALL])
def test_a_tournament_of_a_thousand_threads_is_not_built_in_memory(config: PlanConfig):
    pillars = disjoint([300, 300, 200, 100, 100])
    tracemalloc.start()
    try:
        for _ in islice(plan_pairs(config, pillars), 5_000):
            pass
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000  # bytes; a list of its 499,500 pairs takes forty million


def test_a_tournament_too_large_for_any_list_begins_at_once():
    plan = plan_pairs(replace(FREE_FOR_ALL, repetitions_per_pair=1_000), disjoint([20_000] * 2))
    assert [pair.queue_order for pair in islice(plan, 3)] == [0, 1, 2]
