"""Configurations to begin with, and what is said of one that is still being filled in."""

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User

from judge.domain.plan_outline import outline
from judge.domain.planning import PlanConfig
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.services.planning.coverage import needed
from judge.services.planning.previews import MOST_PAIRS, ModeCount, preview
from judge.services.planning.recommendations import Recommendation, recommendations
from tests.estimates.conftest import MakeConfig, fill

BASE = PlanConfig(
    comparison_mode=ComparisonMode.ROUND_ROBIN,
    sampling_strategy=SamplingStrategy.FIXED,
    samples_per_pillar=7,
    repetitions_per_pair=9,
    max_threads_per_pillar=2,
    position_swap=False,
    judge_count=1,
    seed=5,
)


def pillars(*sizes: int) -> dict[int, list[int]]:
    """Pillars of these sizes, each with threads of its own."""
    return {number: list(range(1000 * number, 1000 * number + size)) for number, size in enumerate(sizes, 1)}


def by_key(threads: dict[int, list[int]], base: PlanConfig = BASE) -> dict[str, Recommendation]:
    return {found.key: found for found in recommendations(base, threads)}


def planned(found: Recommendation, base: PlanConfig = BASE) -> PlanConfig:
    changes: dict[str, Any] = {"comparison_budget": None, **found.changes}
    return replace(base, **changes)


def test_the_three_presets_are_those_of_the_concept() -> None:
    found = by_key(pillars(20, 30, 40))
    assert {key: found[key].comparisons for key in ("quick", "robust", "complete")} == {
        "quick": 30,
        "robust": 180,
        "complete": 600,
    }
    for key in ("quick", "robust", "complete"):
        assert planned(found[key]).sampling_strategy == SamplingStrategy.ROTATING
        assert planned(found[key]).position_swap
        assert planned(found[key]).max_threads_per_pillar is None


def test_few_threads_all_meet_each_other() -> None:
    found = by_key(pillars(10, 10, 10))
    assert found["pillars"].changes["comparison_mode"] == ComparisonMode.FREE_FOR_ALL
    assert found["pillars"].comparisons == 870
    assert "ranking" not in found
    # Two judges would double it, above what is recommended.
    assert by_key(pillars(10, 10, 10), replace(BASE, judge_count=2))["pillars"].comparisons != 1740


@pytest.mark.parametrize("sizes", [(80, 200, 30), (31, 31), (500, 20), (60, 61), (7, 7, 7, 7, 7), (1, 90)])
def test_larger_pillars_get_a_sample_that_reaches_the_goal_in_each(sizes: tuple[int, ...]) -> None:
    threads = pillars(*sizes)
    found = by_key(threads)["pillars"]
    assert found.changes["comparison_mode"] == ComparisonMode.PILLAR_SAMPLE
    outlined = outline(planned(found), threads)
    assert all(outlined.used[number] >= needed(len(pool)) for number, pool in threads.items())
    assert outlined.comparisons == found.comparisons
    one_less = found.changes["repetitions_per_pair"] - 1
    if one_less:
        fewer = outline(replace(planned(found), repetitions_per_pair=one_less), threads)
        assert any(fewer.used[number] < needed(len(pool)) for number, pool in threads.items())


def test_a_ranking_of_many_threads_is_adaptive_and_within_what_is_possible() -> None:
    found = by_key(pillars(50, 50), replace(BASE, judge_count=2))["ranking"]
    assert found.changes["comparison_mode"] == ComparisonMode.ADAPTIVE
    assert found.changes["comparison_budget"] == found.comparisons == 100 * 10 * 4
    assert by_key(pillars(31))["ranking"].comparisons == 31 * 10 * 2
    assert "ranking" not in by_key(pillars(1500, 1500))  # more than the adaptive mode ranks


def test_pillars_of_the_same_threads_get_what_can_be_planned() -> None:
    shared = list(range(40))
    for threads in ({1: shared, 2: shared}, {1: [1], 2: [1], 3: shared}):
        for found in recommendations(BASE, threads):
            if found.comparisons is not None:
                assert outline(planned(found), threads).comparisons == found.comparisons


@pytest.mark.parametrize("threads", [{}, {1: []}, {1: [1]}, {1: [1], 2: []}])
def test_nothing_is_suggested_where_there_is_nothing_to_compare(threads: dict[int, list[int]]) -> None:
    assert set(by_key(threads)) == {"quick", "robust", "complete"}
    assert all(found.comparisons is None for found in by_key(threads).values())


@pytest.mark.django_db
def test_every_mode_has_its_count_under_the_same_fields(owner: User, ten_each: None, config: MakeConfig) -> None:
    found = preview(owner, config(comparison_budget=200))
    assert {mode: count.comparisons for mode, count in found.modes.items()} == {
        "pillar_sample": 60,
        "round_robin": 600,
        "free_for_all": 870,
        "adaptive": 200,
    }
    assert found.estimate is not None


@pytest.mark.django_db
def test_one_pillar_is_enough_for_some_modes_and_the_others_say_so(
    owner: User, ten_each: None, config: MakeConfig
) -> None:
    found = preview(owner, config(pillar_ids=(1,)))
    assert found.estimate is None
    assert list(found.errors) == ["pillar_ids"]
    assert found.modes["free_for_all"].comparisons == 90
    assert found.modes["round_robin"].comparisons is None
    assert "mindestens zwei Säulen" in str(found.modes["round_robin"].problem)
    assert "Budget" in str(found.modes["adaptive"].problem)


@pytest.mark.django_db
def test_a_field_that_is_wrong_leaves_only_those_modes_uncounted_that_use_it(
    owner: User, ten_each: None, config: MakeConfig
) -> None:
    found = preview(owner, config(), {"samples_per_pillar"})
    assert found.modes["pillar_sample"] == ModeCount()
    assert found.modes["free_for_all"].comparisons == 870
    assert preview(owner, config(), {"max_threads_per_pillar"}).modes["free_for_all"] == ModeCount()


@pytest.mark.django_db
def test_a_huge_sample_that_is_not_chosen_is_not_counted_to_its_end(owner: User, config: MakeConfig) -> None:
    fill(1, 30), fill(3, 30)
    found = preview(
        owner,
        config(
            pillar_ids=(1, 3), comparison_mode="free_for_all", samples_per_pillar=10_000, repetitions_per_pair=1_000
        ),
    )
    assert found.modes["pillar_sample"] == ModeCount(2 * MOST_PAIRS, is_exact=False)


@pytest.mark.django_db
def test_without_a_pillar_there_is_nothing_to_say(owner: User, config: MakeConfig) -> None:
    found = preview(owner, config(pillar_ids=()), {"pillar_ids"})
    assert (found.estimate, found.modes, found.recommendations) == (None, {}, [])
