"""What the new-session page says about modes and strategies, and how it shows their counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from judge.domain.states import ComparisonMode, SamplingStrategy
from judge.models import JudgeModel
from judge.services.errors import Text
from judge.services.planning.previews import ModeCount, Preview
from judge.services.planning.recommendations import PRESETS
from judge.wording import MODE_LINES, STRATEGY_LINES

# Recommendations that depend on the pillars, with what stands there before any is chosen.
SUGGESTIONS: Final = {"pillars": _("By the pillars’ sizes"), "ranking": _("Ranking of threads")}
CHOOSE_FIRST: Final = _("Choose pillars first.")
NOT_FOR_THESE: Final = _("Nothing to recommend for these pillars.")


@dataclass(frozen=True)
class ChoiceCard:
    """A radio button with a line that says what it is for."""

    choice: Any
    value: str
    line: Text
    count: ModeCount


@dataclass(frozen=True)
class PresetCard:
    """A recommendation as a button. ``settings``: what it sets, in short."""

    key: str
    name: Text
    why: Text
    samples: int | None
    repetitions: int | None
    mode: str
    comparisons: int | None


def mode_cards(field: BoundField, preview: Preview | None) -> list[ChoiceCard]:
    """The modes with their counts, as far as they are known."""
    counts = preview.modes if preview else {}
    return [
        ChoiceCard(choice, value, MODE_LINES[ComparisonMode(value)], counts.get(value, ModeCount()))
        for choice in field
        if (value := str(choice.data["value"]))
    ]


def strategy_cards(field: BoundField) -> list[ChoiceCard]:
    """The strategies, each with its line."""
    return [
        ChoiceCard(choice, value, STRATEGY_LINES[SamplingStrategy(value)], ModeCount())
        for choice in field
        if (value := str(choice.data["value"]))
    ]


def preset_cards(preview: Preview | None) -> list[PresetCard]:
    """All recommendations; those that depend on pillars say so until some are chosen."""
    known = {found.key: found for found in preview.recommendations} if preview else {}
    cards = [
        PresetCard(key, preset.name, preset.why, preset.samples, preset.repetitions, "", _comparisons(known.get(key)))
        for key, preset in PRESETS.items()
    ]
    for key, name in SUGGESTIONS.items():
        found = known.get(key)
        if found is None:
            cards.append(PresetCard(key, name, NOT_FOR_THESE if known else CHOOSE_FIRST, None, None, "", None))
            continue
        changes = found.changes
        mode = changes["comparison_mode"]
        is_sample = mode == ComparisonMode.PILLAR_SAMPLE
        cards.append(
            PresetCard(
                key=key,
                name=name,
                why=found.why,
                samples=changes["samples_per_pillar"] if is_sample else None,
                repetitions=changes["repetitions_per_pair"] if is_sample else None,
                mode="" if is_sample else mode,
                comparisons=found.comparisons,
            )
        )
    return cards


def judge_groups(field: BoundField, models: list[JudgeModel]) -> Iterator[tuple[Text, list[tuple[Any, JudgeModel]]]]:
    """The judges as (heading, [(choice, model)]): everybody's, then one's own; groups without any are left out."""
    by_pk = {model.pk: model for model in models}
    shown = [(choice, by_pk[choice.data["value"]]) for choice in field]
    for heading, is_own in ((_("For everybody"), False), (_("My own providers"), True)):
        group = [(choice, model) for choice, model in shown if (model.provider.owner_id is not None) == is_own]
        if group:
            yield heading, group


def _comparisons(found: Any) -> int | None:
    return found.comparisons if found is not None else None
