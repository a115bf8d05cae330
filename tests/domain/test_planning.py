"""What holds for every plan: nobody against themselves, evenly interleaved, and the same for the same seed."""

from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import example, given

from judge.domain.planning import MAX_SEED, PlanConfig, PlanError, plan_comparisons, plan_pairs, pools
from judge.domain.states import ComparisonMode
from tests.domain.plans import (
    CONFIG,
    any_pillars,
    by_repetition,
    configs,
    disjoint,
    disjoint_pillars,
    pillar_pair,
    planned,
    threads_of,
)

ADAPTIVE = replace(CONFIG, comparison_mode=ComparisonMode.ADAPTIVE, comparison_budget=100)


@pytest.mark.parametrize(("mode", "pairs"), [("pillar_sample", 30), ("round_robin", 300), ("free_for_all", 435)])
def test_three_pillars_of_ten_threads_give_the_numbers_of_the_concept(mode: str, pairs: int):
    config = replace(
        CONFIG, comparison_mode=ComparisonMode(mode), samples_per_pillar=10, repetitions_per_pair=1, position_swap=True
    )
    threads = disjoint([10] * 5)
    plan = list(plan_pairs(config, {number: threads[number] for number in (1, 3, 5)}))
    assert len(plan) == pairs
    assert len(list(plan_comparisons(config, len(plan)))) == 2 * pairs


def test_ten_samples_three_times_with_swap_are_sixty_comparisons_of_each_two_pillars():
    config = replace(CONFIG, samples_per_pillar=10, repetitions_per_pair=3)
    plan = list(plan_pairs(config, disjoint([80, 200, 30])))
    assert Counter(map(pillar_pair, plan)) == {(1, 2): 30, (1, 3): 30, (2, 3): 30}
    assert len(list(plan_comparisons(config, len(plan)))) == 3 * 60


@given(configs, any_pillars)
def test_no_thread_meets_itself_and_no_two_meet_twice_in_one_repetition(config, pillars):
    plan = planned(config, pillars)
    assert [pair.queue_order for pair in plan] == list(range(len(plan)))
    for group in by_repetition(plan).values():
        meetings = list(map(threads_of, group))
        assert all(len(meeting) == 2 for meeting in meetings)
        assert len(set(meetings)) == len(meetings)


@given(configs, any_pillars)
def test_a_thread_stands_for_a_pillar_it_is_in(config, pillars):
    for pair in planned(config, pillars):
        assert pair.thread_a in pillars[pair.pillar_a]
        assert pair.thread_b in pillars[pair.pillar_b]
        assert pair.pillar_a != pair.pillar_b or config.comparison_mode == ComparisonMode.FREE_FOR_ALL


@given(configs, any_pillars)
def test_the_order_of_the_input_changes_nothing(config, pillars):
    mixed = {number: pillars[number][::-1] for number in reversed(pillars)}
    assert planned(config, mixed) == planned(config, pillars)


@pytest.mark.parametrize("mode", ["pillar_sample", "round_robin", "free_for_all"])
def test_another_seed_gives_another_plan(mode: str):
    config = replace(CONFIG, comparison_mode=ComparisonMode(mode))
    assert len({tuple(plan_pairs(replace(config, seed=seed), disjoint([20, 20]))) for seed in range(5)}) == 5


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("pillar_sample", [(202, 103), (201, 302), (301, 104), (102, 204)]),
        ("round_robin", [(101, 202), (301, 203), (203, 103), (101, 301)]),
        ("free_for_all", [(101, 203), (203, 302), (101, 301), (103, 204)]),
    ],
)
def test_the_plan_of_a_seed_stays_the_same_over_versions(mode: str, expected: list[tuple[int, int]]):
    config = replace(CONFIG, comparison_mode=ComparisonMode(mode), samples_per_pillar=2, repetitions_per_pair=1)
    plan = plan_pairs(config, {1: [101, 102, 103, 104], 2: [201, 202, 203, 204], 3: [301, 302]})
    assert [(pair.thread_a, pair.thread_b) for pair in plan][:4] == expected


@given(configs, disjoint_pillars)
@example(replace(CONFIG, samples_per_pillar=7), disjoint([1, 1, 7, 7]))  # shares far apart in size
def test_after_any_prefix_all_pillar_pairs_are_less_than_one_pair_from_their_share(config, pillars):
    for group in by_repetition(planned(config, pillars)).values():
        totals = Counter(map(pillar_pair, group))
        most = 1 - 1 / (2 * len(totals) - 2) if len(totals) > 1 else 0
        done: Counter[tuple[int, int]] = Counter()
        for position, pair in enumerate(group, 1):
            done[pillar_pair(pair)] += 1
            for key, total in totals.items():
                assert abs(done[key] - total * position / len(group)) <= most + 1e-9


@given(configs, any_pillars)
def test_repetitions_follow_one_another(config, pillars):
    repetitions = [pair.repetition for pair in planned(config, pillars)]
    assert repetitions == sorted(repetitions)


@given(configs, disjoint_pillars)
def test_both_pillars_of_a_pair_come_first_equally_often(config, pillars):
    balance: Counter[tuple[int, int]] = Counter()
    for pair in planned(config, pillars):
        balance[pillar_pair(pair)] += (pair.pillar_a < pair.pillar_b) - (pair.pillar_a > pair.pillar_b)
    assert all(abs(value) <= 1 for value in balance.values())


@given(configs, any_pillars)
def test_the_limit_of_threads_per_pillar_holds_over_the_whole_session(config, pillars):
    seen = defaultdict(set)
    for pair in planned(config, pillars):
        seen[pair.pillar_a].add(pair.thread_a)
        seen[pair.pillar_b].add(pair.thread_b)
    taking_part = pools(config, pillars)
    for pillar, threads in seen.items():
        assert len(threads) <= (config.max_threads_per_pillar or 99)
        assert threads <= set(taking_part[pillar])


def test_which_threads_take_part_is_drawn_by_the_seed():
    config = replace(CONFIG, max_threads_per_pillar=5)
    drawn = [pools(replace(config, seed=seed), disjoint([50]))[1] for seed in range(5)]
    assert all(len(pool) == 5 and pool == sorted(pool) for pool in drawn)
    assert len(set(map(tuple, drawn))) == 5


def test_an_adaptive_plan_is_not_known_beforehand():
    with pytest.raises(ValueError, match="adaptive"):
        plan_pairs(ADAPTIVE, disjoint([3]))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("samples_per_pillar", value) for value in (0, -3, True, 1.5, None, 100_001)],
        *[("repetitions_per_pair", value) for value in (0, -1, 1_001)],
        *[("max_threads_per_pillar", value) for value in (0, -1, 100_001)],
        *[("judge_count", value) for value in (0, 4)],
        *[("seed", value) for value in (-1, MAX_SEED + 1, "x")],
        *[("comparison_budget", value) for value in (0, 1, 10_000_001, "x")],  # with the swap one pair takes two
        ("comparison_mode", "x"),
        ("sampling_strategy", "x"),
    ],
)
def test_a_value_out_of_range_is_refused_and_its_field_named(field: str, value: object):
    config = replace(ADAPTIVE, **{field: value})
    for call in (config.validate, lambda: plan_comparisons(config, 1), lambda: plan_pairs(config, disjoint([2, 2]))):
        with pytest.raises(PlanError) as error:
            call()
        assert (error.value.code, error.value.field) == ("invalid", field)
        assert error.value.params["value"] == value


def test_only_the_adaptive_mode_needs_a_budget():
    with pytest.raises(PlanError) as error:
        replace(ADAPTIVE, comparison_budget=None).validate()
    assert (error.value.code, error.value.field) == ("budget_required", "comparison_budget")
    replace(CONFIG, comparison_budget=-1).validate(disjoint([2, 2]))


@pytest.mark.parametrize(
    ("mode", "pillars", "code"),
    [
        ("pillar_sample", {}, "too_few_pillars"),
        ("pillar_sample", {1: [1, 2]}, "too_few_pillars"),
        ("round_robin", {1: [1, 2]}, "too_few_pillars"),
        ("free_for_all", {}, "too_few_pillars"),
        ("adaptive", {}, "too_few_pillars"),
        *[(mode, {1: [1], 2: []}, "pillar_empty") for mode in ComparisonMode],
        *[(mode, {1: [7], 2: [7, 7]}, "no_pairs") for mode in ComparisonMode],
        ("free_for_all", {1: [7]}, "no_pairs"),
        ("adaptive", {1: [7]}, "no_pairs"),
    ],
)
def test_pillars_that_give_no_pairs_are_refused_before_planning(mode: str, pillars: dict[int, list[int]], code: str):
    config: PlanConfig = replace(ADAPTIVE, comparison_mode=ComparisonMode(mode))
    with pytest.raises(PlanError) as error:
        plan_pairs(config, pillars)
    assert (error.value.code, error.value.field) == (code, "pillar_ids")


def test_too_many_threads_for_adaptive_choices_are_refused_unless_limited():
    pillars = disjoint([1_200, 801])
    with pytest.raises(PlanError) as error:
        ADAPTIVE.validate(pillars)
    assert (error.value.code, error.value.field) == ("too_many_threads", "max_threads_per_pillar")
    assert error.value.params == {"maximum": 2_000, "value": 2_001}
    replace(ADAPTIVE, max_threads_per_pillar=1_199).validate(pillars)
    replace(ADAPTIVE, comparison_mode=ComparisonMode.FREE_FOR_ALL).validate(pillars)
