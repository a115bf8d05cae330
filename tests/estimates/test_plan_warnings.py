"""What a researcher is told before a plan is made."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import translation
from pytest_django import Settings

from judge.models import JudgeModel
from judge.services.planning.estimates import Estimate, estimate
from judge.services.planning.warnings import PlanWarning
from tests.estimates.conftest import MakeConfig, fill

pytestmark = pytest.mark.django_db


def codes(found: Estimate) -> list[str]:
    return [warning.code for warning in found.warnings]


def the(code: str, found: Estimate) -> PlanWarning:
    (warning,) = [warning for warning in found.warnings if warning.code == code]
    return warning


def test_a_fair_plan_has_no_warning(owner: User, ten_each: None, config: MakeConfig) -> None:
    assert codes(estimate(owner, config())) == []


@pytest.mark.parametrize("strategy", ["rotating", "fixed"])
def test_pillars_of_unequal_size_come_with_the_repetitions_that_help(
    strategy: str, owner: User, config: MakeConfig
) -> None:
    fill(1, 80), fill(3, 200), fill(5, 30)
    chosen: dict[str, Any] = {"samples_per_pillar": 10, "sampling_strategy": strategy}
    found = estimate(owner, config(**chosen))
    warning = the("unequal_pillars", found)
    assert (warning.params["smallest"], warning.params["largest"]) == (30, 200)
    repetitions = warning.params["recommended_repetitions"]
    assert str(repetitions) in warning.text
    better = estimate(owner, config(**chosen, repetitions_per_pair=repetitions))
    largest = max(better.pillars, key=lambda share: share.threads)
    assert largest.coverage > largest.goal == 0.2
    if strategy == "rotating":
        assert repetitions == 3  # 20 new threads of 200 in each repetition, and more than 40 are wanted
        assert the("low_coverage", found).params["pillar_ids"] == [3]
    assert the("unequal_pillars", better).params["recommended_repetitions"] is None


def test_where_too_few_may_take_part_no_number_of_repetitions_is_recommended(owner: User, config: MakeConfig) -> None:
    fill(1, 40), fill(3, 100), fill(5, 40)
    found = estimate(owner, config(max_threads_per_pillar=15))
    assert the("unequal_pillars", found).params["recommended_repetitions"] is None
    assert the("low_coverage", found).params["pillar_ids"] == [1, 3, 5]


def test_the_goal_is_more_than_half_of_a_small_pillar_and_more_than_a_fifth_of_a_large_one(
    owner: User, config: MakeConfig
) -> None:
    fill(1, 60), fill(3, 61)
    two: dict[str, Any] = {"pillar_ids": (1, 3)}
    few = estimate(owner, config(**two, samples_per_pillar=12))
    assert the("low_coverage", few).params["needed"] == {"1": 31, "3": 13}
    assert the("low_coverage", estimate(owner, config(**two, samples_per_pillar=30))).params["pillar_ids"] == [1]
    assert codes(estimate(owner, config(**two, samples_per_pillar=31))) == []


def test_a_pillar_smaller_than_the_samples_is_named(owner: User, ten_each: None, config: MakeConfig) -> None:
    fill(2, 8)
    found = estimate(owner, config(pillar_ids=(1, 2)))
    assert the("pillar_smaller_than_samples", found).params == {"pillar_ids": [2], "samples_per_pillar": 10}
    assert "pillar_smaller_than_samples" not in codes(
        estimate(owner, config(pillar_ids=(1, 2), comparison_mode="round_robin"))
    )


def test_a_long_run_and_a_large_plan_are_told(owner: User, settings: Settings, config: MakeConfig) -> None:
    settings.JUDGE_CONFIRM_ABOVE = 500
    fill(1, 25), fill(3, 25)
    found = estimate(owner, config(pillar_ids=(1, 3), comparison_mode="round_robin", worker_count=1))
    assert codes(found)[:2] == ["large_plan", "long_runtime"]
    assert the("large_plan", found).params == {"comparisons": 1250, "confirm_above": 500}
    assert the("long_runtime", found).params == {"minutes": 209, "worker_count": 1}
    assert found.needs_confirmation
    fewer = estimate(owner, config(pillar_ids=(1, 3), samples_per_pillar=20, worker_count=5))
    assert codes(fewer) == []


def test_threads_too_long_for_a_judge_are_named_by_their_ids_only(
    owner: User, model: JudgeModel, config: MakeConfig
) -> None:
    fill(1, 3, [("client", "x" * 300)])
    (long,) = fill(3, 1, [("client", "y" * 9_000)])
    (longest,) = fill(3, 1, [("client", "z" * 12_000)])
    everyone = config(pillar_ids=(1, 3), comparison_mode="round_robin")
    assert "text_too_long" not in codes(estimate(owner, everyone))
    model.context_window = 100_000
    model.save()
    assert "text_too_long" not in codes(estimate(owner, everyone))
    # With the answer's 1,000 tokens a short thread beside the longest fits, and the two long ones do not fit together.
    model.context_window = _tokens_of_a_prompt(owner, config) + 100 + 4_000 + 1_000 + 100
    model.save()
    warning = the("text_too_long", estimate(owner, everyone))
    assert warning.params["thread_ids"] == [long, longest]
    assert "y" * 10 not in repr(warning)


def _tokens_of_a_prompt(owner: User, config: MakeConfig) -> int:
    """What is sent beside the threads."""
    fill(2, 1, [("client", "x")]), fill(4, 1, [("client", "x")])
    found = estimate(owner, config(pillar_ids=(2, 4), comparison_mode="round_robin", position_swap=False))
    return found.prompt_tokens


def test_without_swap_and_with_too_small_a_budget(owner: User, ten_each: None, config: MakeConfig) -> None:
    assert codes(estimate(owner, config(position_swap=False))) == ["no_position_swap"]
    small = estimate(owner, config(comparison_mode="adaptive", comparison_budget=57))
    assert the("budget_below_connection", small).params == {"pairs": 28, "threads": 30, "least_budget": 58}
    assert codes(estimate(owner, config(comparison_mode="adaptive", comparison_budget=58))) == []


def test_repeating_the_same_pair_at_temperature_0_may_only_repeat_the_answer(
    owner: User, model: JudgeModel, ten_each: None, config: MakeConfig
) -> None:
    twice: dict[str, Any] = {"comparison_mode": "round_robin", "repetitions_per_pair": 2, "worker_count": 5}
    assert "repetitions_repeat" not in codes(estimate(owner, config(**twice)))
    model.parameters = {"temperature": 0}
    model.save()
    assert "repetitions_repeat" in codes(estimate(owner, config(**twice)))
    adaptive = config(comparison_mode="adaptive", comparison_budget=200, repetitions_per_pair=2)
    assert "repetitions_repeat" in codes(estimate(owner, adaptive))
    assert "repetitions_repeat" not in codes(estimate(owner, config(repetitions_per_pair=2)))


def test_warnings_speak_the_readers_language(owner: User, ten_each: None, config: MakeConfig) -> None:
    with translation.override("de"):
        german = estimate(owner, config(position_swap=False)).warnings[0].text
    with translation.override("en"):
        english = estimate(owner, config(position_swap=False)).warnings[0].text
    assert english == "Without position swap, position bias stays unseen."
    assert german != english
