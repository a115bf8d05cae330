"""What a researcher should know before starting a plan: codes for programs, sentences for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeModel
from judge.services.planning.basis import PlanBasis
from judge.services.planning.configuration import grouped
from judge.services.planning.coverage import PillarShare, needed, repetitions_to_cover
from judge.services.planning.prompt_lengths import PromptLengths, tokens
from judge.services.rates import EXPECTED_ANSWER_TOKENS

# Pillars differ in size when the largest has more than so many times the threads of the smallest.
UNEQUAL: Final = 1.5
LONG_MINUTES: Final = 60
OBSTACLES: Final = frozenset({"provider_not_allowed", "large_plan"})
# Modes in which a repetition, or another meeting, judges the very same pair once more.
SAME_PAIRS: Final = (ComparisonMode.ROUND_ROBIN, ComparisonMode.FREE_FOR_ALL, ComparisonMode.ADAPTIVE)


@dataclass(frozen=True)
class PlanWarning:
    """``code`` is stable, ``text`` a sentence in the reader's language, ``params`` the numbers that stand in it."""

    code: str
    text: str
    params: dict[str, Any]

    @property
    def is_obstacle(self) -> bool:
        """Whether no session can be created before something is done about it."""
        return self.code in OBSTACLES


@dataclass(frozen=True)
class Facts:
    """What warnings are derived from. ``minutes``: with the chosen number of workers."""

    basis: PlanBasis
    shares: list[PillarShare]
    lengths: PromptLengths
    minutes: int

    @property
    def is_sample(self) -> bool:
        """Whether the plan draws samples of pillars."""
        return self.basis.plan.comparison_mode == ComparisonMode.PILLAR_SAMPLE


def plan_warnings(facts: Facts) -> list[PlanWarning]:
    """All warnings, those that forbid or endanger the session first."""
    rules = (_not_allowed, _large, _too_long, _long, _budget, _no_swap, _same_again, _small_pillars, _unequal, _low)
    return [warning for rule in rules for warning in rule(facts)]


def _not_allowed(facts: Facts) -> Iterator[PlanWarning]:
    models = [judge.model for judge in facts.basis.judges if not judge.model.provider.may_receive_threads]
    if models:
        text = _(
            "%(judges)s: the provider is not approved for personal data, so the session cannot be created. "
            "Staff can approve it."
        )
        yield _about_models("provider_not_allowed", text, models)


def _large(facts: Facts) -> Iterator[PlanWarning]:
    count, limit = facts.basis.outline.comparisons, settings.JUDGE_CONFIRM_ABOVE
    if count > limit:
        text = _("This is a large plan: more than %(limit)s comparisons must be confirmed.")
        yield PlanWarning(
            "large_plan", text % {"limit": grouped(limit)}, {"comparisons": count, "confirm_above": limit}
        )


def _too_long(facts: Facts) -> Iterator[PlanWarning]:
    """Judged by the longest prompt that each thread could stand in; the answer needs room too."""
    opponents = facts.lengths.longest_opponents()
    for judge, fixed in zip(facts.basis.judges, facts.lengths.fixed, strict=True):
        window = judge.model.context_window
        if window is None:
            continue
        room = window - EXPECTED_ANSWER_TOKENS
        too_long = sorted(
            thread
            for thread, other in opponents.items()
            if tokens(fixed + facts.lengths.threads[thread] + other) > room
        )
        if too_long:
            text = ngettext(
                "%(count)s thread may be too long for %(judge)s together with another one: "
                "such comparisons fail, nothing is cut.",
                "%(count)s threads may be too long for %(judge)s together with another one: "
                "such comparisons fail, nothing is cut.",
                len(too_long),
            )
            yield PlanWarning(
                "text_too_long",
                text % {"count": grouped(len(too_long)), "judge": judge.model.model_name},
                {"judge_model_id": judge.model.pk, "context_window": window, "thread_ids": too_long},
            )


def _long(facts: Facts) -> Iterator[PlanWarning]:
    if facts.minutes > LONG_MINUTES:
        text = _("This takes more than an hour with the chosen number of workers.")
        yield PlanWarning("long_runtime", text, {"minutes": facts.minutes, "worker_count": facts.basis.worker_count})


def _budget(facts: Facts) -> Iterator[PlanWarning]:
    pairs, threads = facts.basis.outline.pairs, len(facts.basis.taking_part)
    if facts.basis.plan.comparison_mode == ComparisonMode.ADAPTIVE and pairs < threads - 1:
        least = (threads - 1) * facts.basis.plan.comparisons_per_pair
        text = _(
            "The budget is too small to connect all threads with each other: %(least)s comparisons are the least "
            "for %(threads)s threads."
        )
        yield PlanWarning(
            "budget_below_connection",
            text % {"least": grouped(least), "threads": grouped(threads)},
            {"pairs": pairs, "threads": threads, "least_budget": least},
        )


def _no_swap(facts: Facts) -> Iterator[PlanWarning]:
    if not facts.basis.plan.position_swap:
        yield PlanWarning("no_position_swap", _("Without position swap, position bias stays unseen."), {})


def _same_again(facts: Facts) -> Iterator[PlanWarning]:
    plan = facts.basis.plan
    models = [judge.model for judge in facts.basis.judges if judge.parameters.get("temperature") == 0]
    if plan.comparison_mode in SAME_PAIRS and plan.repetitions_per_pair > 1 and models:
        text = _("%(judges)s: asked with temperature 0, so a repetition may only repeat the same answer.")
        yield _about_models("repetitions_repeat", text, models)


def _small_pillars(facts: Facts) -> Iterator[PlanWarning]:
    """Whoever draws with replacement, or in proportion, does not draw the number that was asked for anyway."""
    plan = facts.basis.plan
    drawn_once = (SamplingStrategy.FIXED, SamplingStrategy.ROTATING)
    small = [share for share in facts.shares if share.taking_part < plan.samples_per_pillar]
    if facts.is_sample and plan.sampling_strategy in drawn_once and small:
        text = ngettext(
            "Pillar %(pillars)s has fewer threads than samples are to be drawn: fewer pairs are made with it.",
            "Pillars %(pillars)s have fewer threads than samples are to be drawn: fewer pairs are made with them.",
            len(small),
        )
        yield _about_pillars("pillar_smaller_than_samples", text, small, samples_per_pillar=plan.samples_per_pillar)


def _unequal(facts: Facts) -> Iterator[PlanWarning]:
    sizes = [share.threads for share in facts.shares]
    if not facts.is_sample or max(sizes) <= UNEQUAL * min(sizes):
        return
    largest = max(facts.shares, key=lambda share: (share.threads, -share.number))
    text = _("The pillars differ in size: %(smallest)s to %(largest)s threads.")
    shown = {"smallest": grouped(min(sizes)), "largest": grouped(max(sizes))}
    params: dict[str, Any] = {"smallest": min(sizes), "largest": max(sizes), "recommended_repetitions": None}
    if not largest.reaches_goal:
        basis = facts.basis
        wanted = repetitions_to_cover(basis.plan, basis.threads, [largest.number])
        params["recommended_repetitions"] = wanted
        if wanted is not None:
            text += " " + _("With %(repetitions)s repetitions enough of the largest is compared.")
            shown["repetitions"] = grouped(wanted)
    yield PlanWarning("unequal_pillars", text % shown, params)


def _low(facts: Facts) -> Iterator[PlanWarning]:
    low = [share for share in facts.shares if not share.reaches_goal]
    if low:
        text = ngettext(
            "Only a small part of pillar %(pillars)s is compared: the goal is more than half of up to 60 threads, and "
            "more than a fifth of larger pillars.",
            "Only a small part of pillars %(pillars)s is compared: the goal is more than half of up to 60 threads, and "
            "more than a fifth of larger pillars.",
            len(low),
        )
        yield _about_pillars("low_coverage", text, low, needed={str(s.number): needed(s.threads) for s in low})


def _about_models(code: str, text: str, models: list[JudgeModel]) -> PlanWarning:
    names = ", ".join(model.model_name for model in models)
    return PlanWarning(code, text % {"judges": names}, {"judge_model_ids": [model.pk for model in models]})


def _about_pillars(code: str, text: str, shares: list[PillarShare], **more: Any) -> PlanWarning:
    numbers = [share.number for share in shares]
    return PlanWarning(code, text % {"pillars": ", ".join(map(str, numbers))}, {"pillar_ids": numbers, **more})
