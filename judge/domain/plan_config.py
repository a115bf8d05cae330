"""What decides a session's plan, what it must fulfil, and the threads of each pillar that take part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from judge.domain.errors import DomainError
from judge.domain.sampling import shuffled, stream
from judge.domain.states import ComparisonMode, SamplingStrategy

MAX_SEED: Final = 2**63 - 1
MAX_JUDGES: Final = 3
MAX_SAMPLES: Final = 100_000
MAX_REPETITIONS: Final = 1_000
MAX_THREADS: Final = 100_000
MAX_BUDGET: Final = 10_000_000
# Adaptive choices weigh every pair of threads against every other: above this they take too much memory and time.
MAX_ADAPTIVE_THREADS: Final = 2_000
# Modes that also compare threads of one pillar with each other.
WITHIN_PILLARS: Final = frozenset({ComparisonMode.FREE_FOR_ALL, ComparisonMode.ADAPTIVE})


class PlanError(DomainError):
    """A configuration that cannot be planned.

    Codes: invalid, too_few_pillars, pillar_empty, no_pairs, too_many_threads, budget_required. `field` is the
    configuration's field, `params` what a message needs (minimum, maximum, value, pillar ...).
    """

    def __init__(self, code: str, field: str, **params: Any) -> None:
        super().__init__(code, f"{field}: {code}")
        self.field = field
        self.params: dict[str, Any] = params


@dataclass(frozen=True)
class PlanConfig:
    """What of a session's configuration decides its plan.

    `sampling_strategy` and `samples_per_pillar` are for pillar_sample alone. `comparison_budget` is for adaptive
    alone, which spends at most that many comparisons, and there `repetitions_per_pair` is how often two threads may
    meet at most.
    """

    comparison_mode: ComparisonMode
    sampling_strategy: SamplingStrategy
    samples_per_pillar: int
    repetitions_per_pair: int
    max_threads_per_pillar: int | None
    position_swap: bool
    judge_count: int
    seed: int
    comparison_budget: int | None = None

    @property
    def comparisons_per_pair(self) -> int:
        """How often each pair is presented: judges times orders."""
        return self.judge_count * (2 if self.position_swap else 1)

    def validate(self, pillars: Mapping[int, Sequence[int]] | None = None) -> None:
        """Raise PlanError for what cannot be planned; with `pillars` (number -> thread ids) those are checked too."""
        if self.comparison_mode not in list(ComparisonMode):
            raise PlanError("invalid", "comparison_mode", value=str(self.comparison_mode))
        if self.sampling_strategy not in list(SamplingStrategy):
            raise PlanError("invalid", "sampling_strategy", value=str(self.sampling_strategy))
        _check_range("samples_per_pillar", self.samples_per_pillar, 1, MAX_SAMPLES)
        _check_range("repetitions_per_pair", self.repetitions_per_pair, 1, MAX_REPETITIONS)
        if self.max_threads_per_pillar is not None:
            _check_range("max_threads_per_pillar", self.max_threads_per_pillar, 1, MAX_THREADS)
        _check_range("judge_count", self.judge_count, 1, MAX_JUDGES)
        _check_range("seed", self.seed, 0, MAX_SEED)
        if self.comparison_mode == ComparisonMode.ADAPTIVE:
            self._check_budget()
        if pillars is not None:
            self._check_pillars(pillars)

    def _check_budget(self) -> None:
        if self.comparison_budget is None:
            raise PlanError("budget_required", "comparison_budget", minimum=self.comparisons_per_pair)
        _check_range("comparison_budget", self.comparison_budget, self.comparisons_per_pair, MAX_BUDGET)

    def _check_pillars(self, pillars: Mapping[int, Sequence[int]]) -> None:
        minimum = 1 if self.comparison_mode in WITHIN_PILLARS else 2
        if len(pillars) < minimum:
            raise PlanError("too_few_pillars", "pillar_ids", minimum=minimum, value=len(pillars))
        for pillar in sorted(pillars):
            if not pillars[pillar]:
                raise PlanError("pillar_empty", "pillar_ids", pillar=pillar)
        if self.comparison_mode not in WITHIN_PILLARS:
            return
        threads = len(set().union(*pools(self, pillars).values()))
        if threads < 2:
            raise PlanError("no_pairs", "pillar_ids")
        if self.comparison_mode == ComparisonMode.ADAPTIVE and threads > MAX_ADAPTIVE_THREADS:
            raise PlanError("too_many_threads", "max_threads_per_pillar", maximum=MAX_ADAPTIVE_THREADS, value=threads)


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """Two threads to be compared. In position order 1 `thread_a` is shown first. `queue_order` counts from 0 over the
    whole plan, `repetition` from 1; `pillar_a` and `pillar_b` are the pillars that the threads stand for."""

    queue_order: int
    repetition: int
    thread_a: int
    thread_b: int
    pillar_a: int
    pillar_b: int


def pools(config: PlanConfig, pillars: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """The threads of each pillar that take part, sorted: all, or as many as allowed, drawn once for the session."""
    return {pillar: _pool(config, pillar, pillars[pillar]) for pillar in sorted(pillars)}


def _pool(config: PlanConfig, pillar: int, threads: Sequence[int]) -> list[int]:
    pool = sorted(set(threads))
    limit = config.max_threads_per_pillar
    if limit is None or limit >= len(pool):
        return pool
    return sorted(shuffled(pool, stream(config.seed, "pool", pillar))[:limit])


def _check_range(field: str, value: int, minimum: int, maximum: int) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not minimum <= value <= maximum:
        raise PlanError("invalid", field, minimum=minimum, maximum=maximum, value=value)
