"""What a configuration will take, counted by the planner itself."""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import fmean

from django.contrib.auth.models import User

from judge.selectors.history import model_history
from judge.services.planning.basis import PlanBasis, basis_of_config
from judge.services.planning.configuration import MAX_WORKERS, CheckedConfig, SessionConfig, check_config
from judge.services.planning.coverage import PillarShare, pillar_shares
from judge.services.planning.prompt_lengths import prompt_lengths
from judge.services.planning.tokens import plan_tokens
from judge.services.planning.warnings import Facts, PlanWarning, plan_warnings


@dataclass(frozen=True)
class Estimate:
    """Size, duration, tokens, cost and fairness of a plan.

    ``base_comparisons`` is without and ``with_position_swap`` with the swap, if it is configured, both over all judges;
    ``with_workers`` are the minutes for 1 to 5 workers. ``cost`` is in the unit of the models' prices. What is not
    known is None.
    """

    comparison_mode: str
    total_threads: int
    base_comparisons: int
    with_position_swap: int
    worker_count: int
    estimated_duration_minutes: int
    with_workers: dict[str, int]
    seconds_per_comparison: float
    prompt_tokens: int
    completion_tokens: int | None
    cost: Decimal | None
    pillars: list[PillarShare]
    warnings: list[PlanWarning]

    @property
    def chosen_workers(self) -> str:
        """The chosen number of workers as ``with_workers`` names it."""
        return str(self.worker_count)

    @property
    def needs_confirmation(self) -> bool:
        """Whether the plan is so large that whoever creates it must say that they mean it."""
        return any(warning.code == "large_plan" for warning in self.warnings)

    @property
    def obstacles(self) -> list[PlanWarning]:
        """The warnings without whose answer no session can be created."""
        return [warning for warning in self.warnings if warning.is_obstacle]

    @property
    def notes(self) -> list[PlanWarning]:
        """All other warnings."""
        return [warning for warning in self.warnings if not warning.is_obstacle]


def estimate(user: User, config: SessionConfig) -> Estimate:
    """Estimate a configuration. Raises ConfigRefused as create_session would.

    Two refusals of create_session are warnings here: a plan that must be confirmed, and a judge whose provider must not
    receive threads.
    """
    return estimate_of_basis(basis_of_config(check_estimate(user, config)))


def check_estimate(user: User, config: SessionConfig) -> CheckedConfig:
    """Check a configuration for an estimate. Raises ConfigRefused."""
    return check_config(user, seeded(config), is_estimate=True)


def seeded(config: SessionConfig) -> SessionConfig:
    """The configuration with a seed: without one its estimate is that of seed 0, so that it is the same each time."""
    return config if config.seed is not None else replace(config, seed=0)


def estimate_of_basis(basis: PlanBasis) -> Estimate:
    """The estimate of a plan (two queries, and one per judge)."""
    histories = [model_history(judge.model) for judge in basis.judges]
    lengths = prompt_lengths(basis)
    used = plan_tokens(basis, lengths, histories)
    seconds = fmean(history.seconds for history in histories)
    minutes = minutes_with_workers(basis.outline.comparisons * seconds)
    shares = pillar_shares(basis.pillars, basis.threads, basis.outline)
    chosen = minutes[str(basis.worker_count)]
    return Estimate(
        comparison_mode=str(basis.plan.comparison_mode),
        total_threads=len(set().union(*basis.threads.values())),
        base_comparisons=basis.outline.base_comparisons,
        with_position_swap=basis.outline.comparisons,
        worker_count=basis.worker_count,
        estimated_duration_minutes=chosen,
        with_workers=minutes,
        seconds_per_comparison=seconds,
        prompt_tokens=used.prompt,
        completion_tokens=used.completion,
        cost=used.cost,
        pillars=shares,
        warnings=plan_warnings(Facts(basis, shares, lengths, chosen)),
    )


def minutes_with_workers(seconds: float) -> dict[str, int]:
    """Whole minutes, rounded up, that so many seconds of judging take with 1 to 5 workers."""
    return {str(workers): math.ceil(seconds / workers / 60) for workers in range(1, MAX_WORKERS + 1)}
