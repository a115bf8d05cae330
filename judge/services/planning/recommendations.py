"""Configurations to begin with: three sizes of a pillar sample, and what the pillars' own sizes suggest."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from judge.domain.plan_config import MAX_ADAPTIVE_THREADS
from judge.domain.plan_outline import outline
from judge.domain.planning import PlanConfig, PlanError
from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.services.errors import Text
from judge.services.planning.coverage import needed, repetitions_to_cover

# So few threads can all meet each other, if that takes fewer comparisons than this.
FEW_THREADS: Final = 30
FEW_COMPARISONS: Final = 1_000
# A sample aims at so many repetitions, of so many pairs at least.
AIM_REPETITIONS: Final = 3
LEAST_SAMPLES: Final = 5
# How many others each thread meets on average in a recommended adaptive session.
MEETINGS: Final = 20
# How often two threads may meet there: twice ranks clearly better than once, three times hardly (docs/statistics.md).
MOST_MEETINGS: Final = 2
# Pairs of the largest plan that is counted to show a recommendation's size.
MOST_PAIRS: Final = 20_000

Changes = dict[str, Any]
_SEVERAL_TIMES = _("As few pairs as compare enough threads of every pillar, in several repetitions.")


@dataclass(frozen=True)
class Recommendation:
    """A configuration to begin with. ``changes``: fields of SessionConfig; ``comparisons`` None: not possible with the
    chosen pillars, or not counted because there are too many."""

    key: str
    name: Text
    why: Text
    changes: Changes
    comparisons: int | None


@dataclass(frozen=True)
class Preset:
    """A recommendation that fits whatever the pillars are."""

    name: Text
    why: Text
    samples: int
    repetitions: int


PRESETS: Final = {
    "quick": Preset(_("Quick look"), _("A first impression of the pillars."), 5, 1),
    "robust": Preset(_("Robust"), _("Enough for a finding, and to see how stable it is."), 10, 3),
    "complete": Preset(_("Complete"), _("For a publication: many pairs, small intervals."), 20, 5),
}


def recommendations(plan: PlanConfig, threads: Mapping[int, list[int]]) -> list[Recommendation]:
    """All recommendations for pillars (number -> thread ids); of ``plan`` only judges and seed matter.

    What the pillars' sizes suggest is left out where they suggest nothing: no pillar, or one without two threads.
    """
    fixed = [Recommendation(key, preset.name, preset.why, _sample(preset), None) for key, preset in PRESETS.items()]
    return [
        replace(found, comparisons=_comparisons(plan, threads, found.changes))
        for found in (*fixed, *_suggested(plan, threads))
    ]


def _sample(preset: Preset) -> Changes:
    return _changes(
        ComparisonMode.PILLAR_SAMPLE, samples_per_pillar=preset.samples, repetitions_per_pair=preset.repetitions
    )


def _changes(mode: ComparisonMode, **more: Any) -> Changes:
    """All fields that a recommendation decides, so that none keeps what another one left behind."""
    return {
        "comparison_mode": mode,
        "sampling_strategy": SamplingStrategy.ROTATING,
        "repetitions_per_pair": 1,
        "max_threads_per_pillar": None,
        "position_swap": True,
        **more,
    }


def _suggested(plan: PlanConfig, threads: Mapping[int, list[int]]) -> Iterator[Recommendation]:
    count = len(set().union(*threads.values()))
    if count < 2 or not all(threads.values()):
        return
    everybody = _changes(ComparisonMode.FREE_FOR_ALL)
    total = _comparisons(plan, threads, everybody)
    if count <= FEW_THREADS and total is not None and total < FEW_COMPARISONS:
        why = _("The threads are few enough to compare every one with every other.")
        yield Recommendation("pillars", _("By the pillars’ sizes"), why, everybody, None)
        return
    if len(threads) > 1 and (sample := _covering(plan, threads)) is not None:
        several = sample["repetitions_per_pair"] > 1
        why = _SEVERAL_TIMES if several else _("As few pairs as compare enough threads of every pillar.")
        yield Recommendation("pillars", _("By the pillars’ sizes"), why, sample, None)
    if count > MAX_ADAPTIVE_THREADS:
        return
    pairs = min(count * MEETINGS // 2, count * (count - 1) // 2)
    budget = pairs * plan.judge_count * 2
    ranking = _changes(ComparisonMode.ADAPTIVE, comparison_budget=budget, repetitions_per_pair=MOST_MEETINGS)
    why = _("Ranks the threads: each meets about 20 others, chosen where a comparison tells most.")
    yield Recommendation("ranking", _("Ranking of threads"), why, ranking, None)


def _covering(plan: PlanConfig, threads: Mapping[int, list[int]]) -> Changes | None:
    """Samples and repetitions that reach the coverage goal in every pillar, with about three repetitions."""
    meetings = AIM_REPETITIONS * (len(threads) - 1)
    wanted = max(math.ceil(needed(len(pool)) / meetings) for pool in threads.values())
    samples = min(max(LEAST_SAMPLES, wanted), min(map(len, threads.values())))
    changes = _changes(ComparisonMode.PILLAR_SAMPLE, samples_per_pillar=samples)
    try:
        repetitions = repetitions_to_cover(_planned(plan, changes), threads, list(threads))
    except PlanError:
        return None
    return None if repetitions is None else changes | {"repetitions_per_pair": repetitions}


def _planned(plan: PlanConfig, changes: Changes) -> PlanConfig:
    whole: Changes = {"comparison_budget": None, **changes}
    return replace(plan, **whole)


def _comparisons(plan: PlanConfig, threads: Mapping[int, list[int]], changes: Changes) -> int | None:
    try:
        outlined = outline(_planned(plan, changes), threads, most_pairs=MOST_PAIRS)
    except PlanError:
        return None
    return outlined.comparisons if outlined.is_complete else None
