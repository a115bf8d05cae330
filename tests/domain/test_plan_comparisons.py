"""Comparisons of planned pairs: every judge, both orders, swap twins near but never neighbours."""

from collections import defaultdict
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from judge.domain.planning import plan_comparisons
from tests.domain.plans import CONFIG, configs


@given(configs, st.integers(0, 60))
def test_every_pair_is_presented_once_to_each_judge_in_each_order(config, pair_count):
    comparisons = list(plan_comparisons(config, pair_count))
    orders = (1, 2) if config.position_swap else (1,)
    expected = {(p, j, o) for p in range(pair_count) for j in range(config.judge_count) for o in orders}
    got = [(c.pair_index, c.judge_index, c.position_order) for c in comparisons]
    assert len(got) == len(expected) == pair_count * config.comparisons_per_pair
    assert set(got) == expected
    assert [c.queue_position for c in comparisons] == list(range(len(comparisons)))


@given(configs, st.integers(2, 60))
def test_swap_twins_are_near_but_never_neighbours(config, pair_count):
    config = replace(config, position_swap=True)
    places = defaultdict(dict)
    for comparison in plan_comparisons(config, pair_count):
        key = comparison.pair_index, comparison.judge_index
        places[key][comparison.position_order] = comparison.queue_position
    distances = [place[2] - place[1] for place in places.values()]
    assert min(distances) >= 2
    assert max(distances) <= 5 * config.judge_count


@given(configs, st.integers(0, 30))
def test_pairs_keep_their_order_in_the_queue(config, pair_count):
    first = [c.pair_index for c in plan_comparisons(config, pair_count) if (c.position_order, c.judge_index) == (1, 0)]
    assert first == list(range(pair_count))


def test_a_huge_plan_of_comparisons_is_not_built_in_memory():
    comparisons = plan_comparisons(CONFIG, 10**12)
    assert next(comparisons).queue_position == 0
