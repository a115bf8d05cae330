"""The strategies of pillar_sample: how many pairs each two pillars get, and how evenly their threads are drawn."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, product

import pytest
from hypothesis import given

from judge.domain.planning import PlannedPair, plan_pairs, pools
from judge.domain.sampling import pairs_wanted
from judge.domain.states import SamplingStrategy
from tests.domain.plans import (
    CONFIG,
    by_repetition,
    disjoint,
    disjoint_pillars,
    overlapping_pillars,
    pillar_pair,
    planned,
    samples,
    threads_of,
)


def sides(pairs: list[PlannedPair]) -> dict[int, list[int]]:
    """The threads that stand for each pillar, as often as they do."""
    found = defaultdict(list)
    for pair in pairs:
        found[pair.pillar_a].append(pair.thread_a)
        found[pair.pillar_b].append(pair.thread_b)
    return found


@given(samples, disjoint_pillars)
def test_every_pillar_pair_and_repetition_gets_the_pairs_it_is_to_get(config, pillars):
    taking_part = pools(config, pillars)
    wanted = pairs_wanted(config.sampling_strategy, config.samples_per_pillar, taking_part)
    assert list(wanted) == list(combinations(sorted(pillars), 2))
    for pair, size in wanted.items():
        assert 1 <= size <= min(len(taking_part[pillar]) for pillar in pair)
    for group in by_repetition(list(plan_pairs(config, pillars))).values():
        assert Counter(map(pillar_pair, group)) == wanted


@given(samples, disjoint_pillars)
def test_without_replacement_no_thread_comes_twice_in_a_meeting_of_two_pillars(config, pillars):
    if config.sampling_strategy == SamplingStrategy.BOOTSTRAP:
        return
    for group in by_repetition(list(plan_pairs(config, pillars))).values():
        for numbers in combinations(sorted(pillars), 2):
            for threads in sides([pair for pair in group if pillar_pair(pair) == numbers]).values():
                assert len(set(threads)) == len(threads)


@given(samples, overlapping_pillars)
def test_there_are_fewer_pairs_only_where_shared_threads_leave_no_more(config, pillars):
    taking_part = pools(config, pillars)
    wanted = pairs_wanted(config.sampling_strategy, config.samples_per_pillar, taking_part)
    for group in by_repetition(planned(config, pillars)).values():
        got = Counter(map(pillar_pair, group))
        met = set(map(threads_of, group))
        for (a, b), size in wanted.items():
            assert got[a, b] <= size
            if got[a, b] < size and config.sampling_strategy == SamplingStrategy.BOOTSTRAP:
                assert all(x == y or frozenset((x, y)) in met for x, y in product(taking_part[a], taking_part[b]))


@pytest.mark.parametrize("strategy", SamplingStrategy)
def test_repetitions_differ(strategy: SamplingStrategy):
    config = replace(CONFIG, sampling_strategy=strategy, repetitions_per_pair=6)
    groups = by_repetition(list(plan_pairs(config, disjoint([20, 20]))))
    assert len({frozenset(map(threads_of, group)) for group in groups.values()}) == 6


@pytest.mark.parametrize(
    ("strategy", "drawn"),
    [
        ("fixed", "101-202 102-203 103-301 203-302 204-103 301-204 302-104"),
        ("rotating", "102-302 103-202 104-204 201-102 203-302 301-101 301-202"),
    ],
)
def test_the_draw_of_a_seed_stays_the_same_over_versions(strategy: str, drawn: str):
    config = replace(CONFIG, sampling_strategy=SamplingStrategy(strategy), samples_per_pillar=3, repetitions_per_pair=1)
    plan = plan_pairs(config, {1: [101, 102, 103, 104], 2: [201, 202, 203, 204], 3: [301, 302]})
    assert " ".join(sorted(f"{pair.thread_a}-{pair.thread_b}" for pair in plan)) == drawn


@given(samples, disjoint_pillars)
def test_a_rotating_deck_uses_no_thread_again_while_another_is_unused(config, pillars):
    if config.sampling_strategy not in (SamplingStrategy.ROTATING, SamplingStrategy.PROPORTIONAL):
        return
    uses = {pillar: dict.fromkeys(pool, 0) for pillar, pool in pools(config, pillars).items()}
    for pair in plan_pairs(config, pillars):
        uses[pair.pillar_a][pair.thread_a] += 1
        uses[pair.pillar_b][pair.thread_b] += 1
    for counts in uses.values():
        assert max(counts.values()) - min(counts.values()) <= 1


def test_a_rotating_deck_goes_on_over_pillar_pairs_and_repetitions():
    seen = []
    for pair in plan_pairs(replace(CONFIG, samples_per_pillar=10, repetitions_per_pair=3), disjoint([60, 60, 60])):
        seen += [pair.thread_a, pair.thread_b]
    assert len(set(seen)) == len(seen) == 180


def test_who_meets_whom_changes_when_all_threads_take_part_in_every_repetition():
    groups = by_repetition(list(plan_pairs(replace(CONFIG, repetitions_per_pair=6), disjoint([5, 5]))))
    assert len({frozenset(map(threads_of, group)) for group in groups.values()}) > 1


def test_a_bootstrap_draws_with_replacement_and_every_thread_alike():
    config = replace(
        CONFIG, sampling_strategy=SamplingStrategy.BOOTSTRAP, samples_per_pillar=40, repetitions_per_pair=100
    )
    plan = list(plan_pairs(config, disjoint([40, 40])))
    for group in by_repetition(plan).values():
        for threads in sides(group).values():
            # 1 - 1/e of 40 threads are drawn at least once: 25.3, with a standard deviation of 2.
            assert 15 <= len(set(threads)) <= 35
    for threads in sides(plan).values():
        assert all(50 <= uses <= 160 for uses in Counter(threads).values())  # 100 each, standard deviation 10


def test_a_bootstrap_of_all_pairs_there_are_finds_each_of_them():
    config = replace(CONFIG, sampling_strategy=SamplingStrategy.BOOTSTRAP, samples_per_pillar=3)
    same = {1: [1, 2, 3], 2: [1, 2, 3]}
    for group in by_repetition(list(plan_pairs(config, same))).values():
        assert set(map(threads_of, group)) == {frozenset(pair) for pair in combinations([1, 2, 3], 2)}


def test_proportional_gives_more_pairs_where_there_are_more_threads():
    wanted = pairs_wanted(SamplingStrategy.PROPORTIONAL, 10, disjoint([80, 200, 30]))
    # The mean pillar has 103.3 threads; pillars 1 and 2 together have 280, so 10 x 280 / 206.7 = 13.5.
    assert wanted == {(1, 2): 14, (1, 3): 5, (2, 3): 11}
    assert sum(wanted.values()) == 3 * 10


def test_proportional_stays_between_one_pair_and_the_smaller_pillar():
    assert pairs_wanted(SamplingStrategy.PROPORTIONAL, 50, disjoint([40, 4])) == {(1, 2): 4}
    assert pairs_wanted(SamplingStrategy.PROPORTIONAL, 1, disjoint([2, 2, 500]))[1, 2] == 1


def test_proportional_rounds_a_half_up():
    assert pairs_wanted(SamplingStrategy.PROPORTIONAL, 2, disjoint([2, 4, 2])) == {(1, 2): 2, (1, 3): 2, (2, 3): 2}


@pytest.mark.parametrize("strategy", SamplingStrategy)
def test_pillars_with_the_same_threads_are_matched_as_far_as_possible(strategy: SamplingStrategy):
    same = {1: [1, 2, 3, 4], 2: [1, 2, 3, 4]}
    config = replace(CONFIG, sampling_strategy=strategy, samples_per_pillar=2, repetitions_per_pair=1)
    for seed in range(30):
        assert len(list(plan_pairs(replace(config, seed=seed), same))) == 2


def test_two_threads_shared_by_both_pillars_meet_once_and_not_mirrored():
    assert len(list(plan_pairs(replace(CONFIG, repetitions_per_pair=1), {1: [1, 2], 2: [2, 1]}))) == 1
