"""Plans: the right number, nobody against themselves, evenly interleaved, and the same for the same seed."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from judge.domain.planning import (
    MAX_SEED,
    PlanConfig,
    PlanCounts,
    PlanError,
    PlannedPair,
    count,
    plan_comparisons,
    plan_pairs,
)
from judge.domain.sampling import match_one_to_one
from judge.domain.states import ComparisonMode, SamplingStrategy

CONFIG = PlanConfig(
    comparison_mode=ComparisonMode.PILLAR_SAMPLE,
    sampling_strategy=SamplingStrategy.ROTATING,
    samples_per_pillar=5,
    repetitions_per_pair=2,
    max_threads_per_pillar=None,
    position_swap=True,
    judge_count=1,
    seed=42,
)

configs = st.builds(
    PlanConfig,
    comparison_mode=st.just(ComparisonMode.PILLAR_SAMPLE),
    sampling_strategy=st.sampled_from([SamplingStrategy.FIXED, SamplingStrategy.ROTATING]),
    samples_per_pillar=st.integers(1, 8),
    repetitions_per_pair=st.integers(1, 4),
    max_threads_per_pillar=st.none() | st.integers(1, 6),
    position_swap=st.booleans(),
    judge_count=st.integers(1, 3),
    seed=st.integers(0, MAX_SEED),
)
sizes = st.lists(st.integers(1, 9), min_size=2, max_size=5)


def disjoint(pillar_sizes: list[int]) -> dict[int, list[int]]:
    """Pillars 1, 2, ... whose threads are numbered 100, 101, ... and 200, 201, ..."""
    return {number: [number * 100 + i for i in range(size)] for number, size in enumerate(pillar_sizes, 1)}


disjoint_pillars = sizes.map(disjoint)
overlapping_pillars = st.dictionaries(
    st.integers(1, 5), st.lists(st.integers(1, 12), min_size=1, max_size=8), min_size=2, max_size=4
)


def planned(config: PlanConfig, pillars: dict[int, list[int]]) -> list[PlannedPair]:
    """The plan, empty where there is nothing to compare."""
    try:
        return list(plan_pairs(config, pillars))
    except PlanError as error:
        if error.code != "no_pairs":
            raise
        return []


def pillar_pair(pair: PlannedPair) -> tuple[int, int]:
    low, high = sorted((pair.pillar_a, pair.pillar_b))
    return low, high


def by_repetition(pairs: list[PlannedPair]) -> dict[int, list[PlannedPair]]:
    grouped = defaultdict(list)
    for pair in pairs:
        grouped[pair.repetition].append(pair)
    return grouped


@given(configs, disjoint_pillars)
def test_every_pillar_pair_and_repetition_gets_its_one_to_one_pairs(config, pillars):
    limit = config.max_threads_per_pillar or 99
    pairs = list(plan_pairs(config, pillars))
    assert [pair.queue_order for pair in pairs] == list(range(len(pairs)))
    for repetition in range(1, config.repetitions_per_pair + 1):
        got = Counter(pillar_pair(pair) for pair in pairs if pair.repetition == repetition)
        for a, b in combinations(sorted(pillars), 2):
            assert got[a, b] == min(config.samples_per_pillar, limit, len(pillars[a]), len(pillars[b]))
            for number in (a, b):
                used = [
                    thread
                    for pair in pairs
                    if pair.repetition == repetition and pillar_pair(pair) == (a, b)
                    for thread, pillar in ((pair.thread_a, pair.pillar_a), (pair.thread_b, pair.pillar_b))
                    if pillar == number
                ]
                assert len(set(used)) == len(used)


@given(configs, overlapping_pillars)
def test_no_thread_meets_itself_and_no_two_meet_twice_in_one_repetition(config, pillars):
    pairs = planned(config, pillars)
    for group in by_repetition(pairs).values():
        meetings = [frozenset((pair.thread_a, pair.thread_b)) for pair in group]
        assert all(len(meeting) == 2 for meeting in meetings)
        assert len(set(meetings)) == len(meetings)
    for pair in pairs:
        assert pair.thread_a in pillars[pair.pillar_a]
        assert pair.thread_b in pillars[pair.pillar_b]
        assert pair.pillar_a != pair.pillar_b


@given(configs, overlapping_pillars, st.randoms(use_true_random=False))
def test_the_order_of_the_input_changes_nothing(config, pillars, random):
    numbers = list(pillars)
    random.shuffle(numbers)
    mixed = {number: random.sample(pillars[number], len(pillars[number])) for number in numbers}
    assert planned(config, mixed) == planned(config, pillars)


def test_another_seed_gives_another_plan():
    pillars = disjoint([20, 20])
    plans = {tuple(plan_pairs(replace(CONFIG, seed=seed), pillars)) for seed in range(5)}
    assert len(plans) == 5


def test_the_plan_of_a_seed_stays_the_same_over_versions():
    pairs = list(plan_pairs(replace(CONFIG, samples_per_pillar=2, repetitions_per_pair=1), disjoint([4, 4])))
    assert [(pair.thread_a, pair.thread_b) for pair in pairs] == [(201, 102), (101, 203)]


@given(configs, disjoint_pillars)
@example(replace(CONFIG, samples_per_pillar=7), disjoint([1, 1, 7, 7]))  # far apart in size: 1.67 pairs from the share
def test_after_any_prefix_all_pillar_pairs_are_about_equally_far(config, pillars):
    for group in by_repetition(list(plan_pairs(config, pillars))).values():
        totals = Counter(map(pillar_pair, group))
        done: Counter[tuple[int, int]] = Counter()
        for position, pair in enumerate(group, 1):
            done[pillar_pair(pair)] += 1
            for key, total in totals.items():
                # Each pillar pair is at most half a pair from its share of the way, and so is each of the others.
                share = total / len(group)
                assert abs(done[key] - share * position) <= 0.5 + share * len(totals) / 2 + 1e-9


@given(configs, disjoint_pillars)
def test_repetitions_follow_one_another(config, pillars):
    repetitions = [pair.repetition for pair in plan_pairs(config, pillars)]
    assert repetitions == sorted(repetitions)


@given(configs, disjoint_pillars)
def test_both_pillars_of_a_pair_come_first_equally_often(config, pillars):
    balance: Counter[tuple[int, int]] = Counter()
    for pair in plan_pairs(config, pillars):
        balance[pillar_pair(pair)] += 1 if pair.pillar_a < pair.pillar_b else -1
    assert all(abs(value) <= 1 for value in balance.values())


@given(configs, disjoint_pillars)
def test_a_rotating_deck_uses_no_thread_again_while_another_is_unused(config, pillars):
    config = replace(config, sampling_strategy=SamplingStrategy.ROTATING, max_threads_per_pillar=None)
    uses = {thread: 0 for threads in pillars.values() for thread in threads}
    for pair in plan_pairs(config, pillars):
        uses[pair.thread_a] += 1
        uses[pair.thread_b] += 1
    for threads in pillars.values():
        assert max(uses[t] for t in threads) - min(uses[t] for t in threads) <= 1


def test_a_fixed_draw_is_fresh_in_every_repetition():
    config = replace(CONFIG, sampling_strategy=SamplingStrategy.FIXED, repetitions_per_pair=6)
    groups = by_repetition(list(plan_pairs(config, disjoint([20, 20]))))
    drawn = {frozenset(t for pair in group for t in (pair.thread_a, pair.thread_b)) for group in groups.values()}
    assert len(drawn) > 1


def test_who_meets_whom_changes_when_all_threads_take_part_in_every_repetition():
    groups = by_repetition(list(plan_pairs(replace(CONFIG, repetitions_per_pair=6), disjoint([5, 5]))))
    meetings = {frozenset(frozenset((p.thread_a, p.thread_b)) for p in group) for group in groups.values()}
    assert len(meetings) > 1


@given(configs, disjoint_pillars)
def test_the_limit_of_threads_per_pillar_holds_over_the_whole_session(config, pillars):
    seen = defaultdict(set)
    for pair in plan_pairs(config, pillars):
        seen[pair.pillar_a].add(pair.thread_a)
        seen[pair.pillar_b].add(pair.thread_b)
    if config.max_threads_per_pillar is not None:
        assert all(len(threads) <= config.max_threads_per_pillar for threads in seen.values())


def test_pillars_with_the_same_threads_are_matched_as_far_as_possible():
    same = {1: [1, 2, 3, 4], 2: [1, 2, 3, 4]}
    for seed in range(30):
        pairs = list(plan_pairs(replace(CONFIG, seed=seed, samples_per_pillar=2, repetitions_per_pair=1), same))
        assert len(pairs) == 2


def test_two_threads_shared_by_both_pillars_meet_once_and_not_mirrored():
    assert count(replace(CONFIG, repetitions_per_pair=1), {1: [1, 2], 2: [2, 1]}).pairs == 1


def test_two_pillars_sharing_their_only_thread_have_no_plan():
    with pytest.raises(PlanError) as error:
        count(CONFIG, {1: [7], 2: [7, 7]})
    assert error.value.code == "no_pairs"


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


@settings(max_examples=50)
@given(configs, overlapping_pillars)
def test_the_count_is_the_plan(config, pillars):
    pairs = planned(config, pillars)
    if not pairs:
        return
    comparisons = list(plan_comparisons(config, len(pairs)))
    base = [c for c in comparisons if c.position_order == 1]
    assert count(config, pillars) == PlanCounts(len(pairs), len(base), len(comparisons))


def test_the_count_of_a_usual_session():
    config = replace(CONFIG, samples_per_pillar=10, repetitions_per_pair=3)
    assert count(config, disjoint([80, 200, 30])) == PlanCounts(90, 90, 180)
    assert count(replace(config, judge_count=2), disjoint([80, 200, 30])) == PlanCounts(90, 180, 360)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *[("samples_per_pillar", value) for value in (0, -3, True, 1.5, None)],
        *[("repetitions_per_pair", value) for value in (0, -1)],
        *[("max_threads_per_pillar", value) for value in (0, -1)],
        *[("judge_count", value) for value in (0, 4)],
        *[("seed", value) for value in (-1, MAX_SEED + 1, "x")],
    ],
)
def test_a_value_out_of_range_is_refused_and_its_field_named(field: str, value: object):
    config = replace(CONFIG, **{field: value})
    for call in (config.validate, lambda: plan_comparisons(config, 1), lambda: plan_pairs(config, disjoint([2, 2]))):
        with pytest.raises(PlanError) as error:
            call()
        assert (error.value.code, error.value.field) == ("invalid", field)
        assert error.value.params["value"] == value


@pytest.mark.parametrize(
    ("change", "field"),
    [({"comparison_mode": mode}, "comparison_mode") for mode in ("round_robin", "free_for_all", "adaptive", "x")]
    + [({"sampling_strategy": name}, "sampling_strategy") for name in ("bootstrap", "proportional", "x")],
)
def test_what_cannot_be_planned_yet_is_refused_by_name(change: dict[str, str], field: str):
    with pytest.raises(PlanError) as error:
        replace(CONFIG, **change).validate()
    assert (error.value.code, error.value.field) == ("not_available", field)


@pytest.mark.parametrize(
    ("pillars", "code"),
    [({}, "too_few_pillars"), ({1: [1, 2]}, "too_few_pillars"), ({1: [1], 2: []}, "pillar_empty")],
)
def test_pillars_that_give_no_pairs_are_refused_before_planning(pillars: dict[int, list[int]], code: str):
    with pytest.raises(PlanError) as error:
        plan_pairs(CONFIG, pillars)
    assert (error.value.code, error.value.field) == (code, "pillar_ids")
