"""Real judgments with their right values, where they lie beside the project."""

import csv
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from judge.statistics.matches import PairSides, PillarMatch, pillar_matches
from judge.statistics.outcomes import PairOutcome, Presentation, Winner, pair_outcomes, read_outcomes

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data"
needs_reference = pytest.mark.skipif(
    not (DATA / "expected.json").exists(), reason="../shared/data (reference judgments) is not beside the project"
)
DIGITS = 1e-11  # the reference values carry twelve significant digits


@dataclass(frozen=True)
class Judgments:
    """One file: verdicts by slot, and the sides of each pair. Pairs are numbered by first appearance."""

    presentations: list[Presentation]
    sides: dict[int, PairSides]
    judges: dict[str, int]

    def outcomes(self, orders_expected: int) -> list[PairOutcome]:
        return pair_outcomes(self.presentations, orders_expected)

    def matches(self, outcomes: list[PairOutcome]) -> list[PillarMatch]:
        return pillar_matches(outcomes, self.sides)


@cache
def expected() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DATA / "expected.json").read_text(encoding="utf-8"))["judgments"]
    return loaded


@cache
def judgments(name: str, *, rows_are_pairs: bool = False) -> Judgments:
    """Read one file; the item is the thread (and its own pillar). `rows_are_pairs` takes each row as a pair."""
    pairs: dict[str, int] = {}
    judges: dict[str, int] = {}
    sides: dict[int, PairSides] = {}
    presentations = []
    with (DATA / "judgments" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file)):
            pair = number if rows_are_pairs else pairs.setdefault(row["pair_id"], len(pairs))
            judge = judges.setdefault(row["judge"], len(judges))
            order = int(row["position_order"])
            sides[pair] = PairSides(row["item_a"], row["item_b"], row["item_a"], row["item_b"])
            presentations.append(Presentation(pair, judge, order, slot_of(row["winner"], order)))
    return Judgments(presentations, sides, judges)


def slot_of(winner: str, position_order: int) -> Winner:
    """The files name the item that won; a presentation names the slot."""
    if winner == "TIE":
        return "TIE"
    return "A" if (winner == "A") == (position_order == 1) else "B"


@cache
def reference_sets() -> dict[str, tuple[list[PillarMatch], dict[str, Any]]]:
    """Every set of matches that has right values."""
    values = expected()
    sets: dict[str, tuple[list[PillarMatch], dict[str, Any]]] = {}
    for name in ("evalica_simple", "evalica_food"):
        data = judgments(name)
        sets[name] = data.matches(data.outcomes(1)), values[name]
    raw, swapped = judgments("qlora_vicuna_gpt4", rows_are_pairs=True), judgments("qlora_vicuna_gpt4")
    sets["qlora rows"] = raw.matches(raw.outcomes(1)), values["qlora_vicuna_gpt4"]["raw_rows"]
    sets["qlora pairs"] = swapped.matches(swapped.outcomes(2)), values["qlora_vicuna_gpt4"]["consolidated"]
    panda = judgments("pandalm")
    outcomes = panda.outcomes(1)
    humans = [outcome for outcome in outcomes if outcome.judge in {panda.judges[f"human{i}"] for i in (1, 2, 3)}]
    sets["human majority"] = panda.matches(read_outcomes(humans, "majority", 3)), values["pandalm"]["human_majority"]
    for judge in ("gpt-3.5-turbo", "pandalm-7b"):
        sets[judge] = panda.matches(read_outcomes(outcomes, panda.judges[judge])), values["pandalm"][judge]
    return sets


SET_NAMES = (
    "evalica_simple",
    "evalica_food",
    "qlora rows",
    "qlora pairs",
    "human majority",
    "gpt-3.5-turbo",
    "pandalm-7b",
)
