"""The outline of a plan is exactly the plan: its size, who takes part, and how often each thread is used."""

import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.domain.plan_outline import PlanOutline, outline
from judge.domain.planning import PlanError, plan_comparisons, pools
from judge.domain.states import ComparisonMode, SamplingStrategy
from tests.domain.plans import CONFIG, any_pillars, configs, disjoint, planned, samples

ROUND_ROBIN = replace(CONFIG, comparison_mode=ComparisonMode.ROUND_ROBIN, repetitions_per_pair=1)
FREE_FOR_ALL = replace(ROUND_ROBIN, comparison_mode=ComparisonMode.FREE_FOR_ALL)
ADAPTIVE = replace(CONFIG, comparison_mode=ComparisonMode.ADAPTIVE, comparison_budget=100)


@settings(max_examples=300)
@given(configs, any_pillars)
def test_the_outline_is_the_plan(config, pillars):
    plan = planned(config, pillars)
    if not plan:
        with pytest.raises(PlanError) as error:
            outline(config, pillars)
        assert error.value.code == "no_pairs"
        return
    found = outline(config, pillars)
    taking_part = pools(config, pillars)
    uses = Counter(thread for pair in plan for thread in (pair.thread_a, pair.thread_b))
    assert found == PlanOutline(
        pairs=len(plan),
        base_comparisons=len(plan) * config.judge_count,
        comparisons=len(list(plan_comparisons(config, len(plan)))),
        pools=taking_part,
        uses={thread: uses[thread] for pool in taking_part.values() for thread in pool},
        used={pillar: len(set(pool) & uses.keys()) for pillar, pool in taking_part.items()},
        is_complete=True,
    )


@given(samples, any_pillars, st.integers(1, 40))
def test_counting_ends_where_a_plan_is_larger_than_asked_for(config, pillars, most_pairs):
    plan = planned(config, pillars)
    if not plan:
        return
    found = outline(config, pillars, most_pairs)
    whole = outline(config, pillars)
    if len(plan) <= most_pairs:
        assert found == whole
        return
    assert (found.pairs, found.is_complete) == (most_pairs + 1, False)
    assert found.comparisons == (most_pairs + 1) * config.comparisons_per_pair
    assert all(found.uses[thread] <= whole.uses[thread] for thread in whole.uses)
    assert all(found.used[pillar] <= whole.used[pillar] for pillar in whole.used)


def test_the_outline_of_a_usual_session():
    found = outline(replace(CONFIG, samples_per_pillar=10, repetitions_per_pair=3), disjoint([80, 200, 30]))
    assert (found.pairs, found.base_comparisons, found.comparisons) == (90, 90, 180)
    assert found.used == {1: 60, 2: 60, 3: 30}


@pytest.mark.parametrize(("mode", "pairs"), [("round_robin", 380_000), ("free_for_all", 499_500)])
def test_the_outline_of_a_tournament_is_computed_and_not_counted(mode: str, pairs: int):
    config = replace(FREE_FOR_ALL, comparison_mode=ComparisonMode(mode))
    begun = time.perf_counter()
    assert outline(config, disjoint([300, 300, 200, 100, 100])).pairs == pairs
    assert outline(replace(config, repetitions_per_pair=1_000), disjoint([20_000, 20_000])).is_complete
    assert time.perf_counter() - begun < 2


@pytest.mark.parametrize("strategy", SamplingStrategy)
def test_a_sample_far_too_large_is_found_to_be_so_without_drawing_it(strategy: SamplingStrategy):
    config = replace(CONFIG, sampling_strategy=strategy, samples_per_pillar=1_000, repetitions_per_pair=1_000)
    begun = time.perf_counter()
    assert outline(config, disjoint([1_000] * 3), most_pairs=2_000_000).pairs == 2_000_001
    assert time.perf_counter() - begun < 5


def test_an_adaptive_plan_has_as_many_pairs_as_its_budget_pays_for():
    found = outline(replace(ADAPTIVE, comparison_budget=101, judge_count=2), disjoint([10, 10]))
    assert (found.pairs, found.base_comparisons, found.comparisons) == (25, 50, 100)
    assert set(found.uses.values()) == {2.5}
    assert found.used == {1: 10, 2: 10}


def test_an_adaptive_plan_has_no_more_pairs_than_may_meet():
    found = outline(replace(ADAPTIVE, comparison_budget=10_000, repetitions_per_pair=3), {1: [1, 2, 3], 2: [3, 4]})
    assert (found.pairs, found.comparisons) == (18, 36)
    assert found.uses == dict.fromkeys([1, 2, 3, 4], 9)


def test_a_small_adaptive_budget_reaches_two_threads_with_each_pair():
    found = outline(replace(ADAPTIVE, comparison_budget=6), disjoint([10, 10]))  # with the swap three pairs
    assert found.used == {1: 3, 2: 3}
    assert set(found.uses.values()) == {0.3}
