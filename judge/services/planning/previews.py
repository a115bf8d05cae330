"""What can be said of a configuration that is still being filled in: how large each mode would be, and the estimate."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from django.contrib.auth.models import User

from judge.domain.plan_outline import outline
from judge.domain.planning import MAX_JUDGES, PlanConfig, PlanError
from judge.domain.states import ComparisonMode
from judge.services.errors import ConfigRefused, Text
from judge.services.planning.basis import basis_of_config
from judge.services.planning.configuration import (
    CheckedConfig,
    SessionConfig,
    plan_message,
    plan_of,
    threads_by_pillar,
)
from judge.services.planning.estimates import Estimate, check_estimate, estimate_of_basis, seeded
from judge.services.planning.recommendations import Recommendation, recommendations
from pillars.models import Pillar

# Pairs of the largest pillar sample that is counted while it is not the chosen mode.
MOST_PAIRS: Final = 20_000
_ALWAYS: Final = frozenset({"repetitions_per_pair", "max_threads_per_pillar", "position_swap"})
# The fields that decide the plan in each mode, beside pillars and judges.
USED_FIELDS: Final[Mapping[ComparisonMode, frozenset[str]]] = {
    ComparisonMode.PILLAR_SAMPLE: _ALWAYS | {"sampling_strategy", "samples_per_pillar"},
    ComparisonMode.ROUND_ROBIN: _ALWAYS,
    ComparisonMode.FREE_FOR_ALL: _ALWAYS,
    ComparisonMode.ADAPTIVE: _ALWAYS | {"comparison_budget"},
}


@dataclass(frozen=True)
class ModeCount:
    """How many comparisons a mode would make; None: not known yet, or not possible, and then ``problem`` says why.
    Not exact: there are more than that."""

    comparisons: int | None = None
    is_exact: bool = True
    problem: Text = ""


@dataclass(frozen=True)
class Preview:
    """``errors``: what the services refuse, by field. No pillar chosen: no counts and no recommendations."""

    estimate: Estimate | None = None
    errors: dict[str, list[Text]] = field(default_factory=dict)
    modes: dict[str, ModeCount] = field(default_factory=dict)
    recommendations: list[Recommendation] = field(default_factory=list)


def preview(user: User, config: SessionConfig, unusable: Collection[str] = ()) -> Preview:
    """Preview a configuration of which the fields in ``unusable`` are missing or wrong (their values are ignored)."""
    estimated: Estimate | None = None
    errors: dict[str, list[Text]] = {}
    checked: CheckedConfig | None = None
    if not unusable:
        try:
            checked = check_estimate(user, config)
            estimated = estimate_of_basis(basis_of_config(checked))
        except ConfigRefused as refused:
            errors = refused.errors
    threads = checked.threads if checked else threads_by_pillar(list(_pillars(config)))
    if not threads:
        return Preview(errors=errors)
    plan = checked.plan if checked else plan_of(seeded(config), min(MAX_JUDGES, max(1, len(config.judge_model_ids))))
    return Preview(
        estimate=estimated,
        errors=errors,
        modes=_mode_counts(config, plan, threads, unusable, estimated),
        recommendations=recommendations(plan, threads),
    )


def _pillars(config: SessionConfig) -> list[Pillar]:
    return list(Pillar.objects.filter(number__in=config.pillar_ids))


def _mode_counts(
    config: SessionConfig,
    plan: PlanConfig,
    threads: Mapping[int, list[int]],
    unusable: Collection[str],
    estimated: Estimate | None,
) -> dict[str, ModeCount]:
    counts = {}
    for mode, used in USED_FIELDS.items():
        if mode == config.comparison_mode and estimated is not None:
            counts[str(mode)] = ModeCount(estimated.with_position_swap)
        elif used.isdisjoint(unusable):
            budget = config.comparison_budget if mode == ComparisonMode.ADAPTIVE else None
            counts[str(mode)] = _count(replace(plan, comparison_mode=mode, comparison_budget=budget), threads)
        else:
            counts[str(mode)] = ModeCount()
    return counts


def _count(plan: PlanConfig, threads: Mapping[int, list[int]]) -> ModeCount:
    try:
        outlined = outline(plan, threads, most_pairs=MOST_PAIRS)
    except PlanError as error:
        return ModeCount(problem=plan_message(error))
    if not outlined.is_complete:
        return ModeCount(MOST_PAIRS * plan.comparisons_per_pair, is_exact=False)
    return ModeCount(outlined.comparisons)
