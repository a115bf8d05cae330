"""Configurations and pillars that the tests of plans share."""

from collections import defaultdict

from hypothesis import strategies as st

from judge.domain.planning import MAX_SEED, PlanConfig, PlanError, PlannedPair, plan_pairs
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
TOURNAMENTS = (ComparisonMode.ROUND_ROBIN, ComparisonMode.FREE_FOR_ALL)


def configs_of(*modes: ComparisonMode) -> st.SearchStrategy[PlanConfig]:
    """Any configuration in one of the modes, small enough to look through its whole plan."""
    return st.builds(
        PlanConfig,
        comparison_mode=st.sampled_from(modes),
        sampling_strategy=st.sampled_from(SamplingStrategy),
        samples_per_pillar=st.integers(1, 8),
        repetitions_per_pair=st.integers(1, 4),
        max_threads_per_pillar=st.none() | st.integers(1, 6),
        position_swap=st.booleans(),
        judge_count=st.integers(1, 3),
        seed=st.integers(0, MAX_SEED),
    )


samples = configs_of(ComparisonMode.PILLAR_SAMPLE)
tournaments = configs_of(*TOURNAMENTS)
configs = configs_of(ComparisonMode.PILLAR_SAMPLE, *TOURNAMENTS)


def disjoint(pillar_sizes: list[int]) -> dict[int, list[int]]:
    """Pillars 1, 2, ... whose threads are numbered 10,000, 10,001, ... and 20,000, 20,001, ..."""
    return {number: [number * 10_000 + i for i in range(size)] for number, size in enumerate(pillar_sizes, 1)}


disjoint_pillars = st.lists(st.integers(1, 9), min_size=2, max_size=5).map(disjoint)
overlapping_pillars = st.dictionaries(
    st.integers(1, 5), st.lists(st.integers(1, 12), min_size=1, max_size=8), min_size=2, max_size=4
)
any_pillars = disjoint_pillars | overlapping_pillars


def planned(config: PlanConfig, pillars: dict[int, list[int]]) -> list[PlannedPair]:
    """The plan, empty where there is nothing to compare."""
    try:
        return list(plan_pairs(config, pillars))
    except PlanError as error:
        if error.code != "no_pairs":
            raise
        return []


def pillar_pair(pair: PlannedPair) -> tuple[int, int]:
    """The pillars that a pair stands for, lower one first."""
    low, high = sorted((pair.pillar_a, pair.pillar_b))
    return low, high


def threads_of(pair: PlannedPair) -> frozenset[int]:
    """Who meets, whatever the slots."""
    return frozenset((pair.thread_a, pair.thread_b))


def by_repetition(pairs: list[PlannedPair]) -> dict[int, list[PlannedPair]]:
    """The pairs of each repetition, in their order."""
    grouped = defaultdict(list)
    for pair in pairs:
        grouped[pair.repetition].append(pair)
    return grouped
