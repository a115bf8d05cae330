"""Rubrics and well-formed answers the domain tests start from."""

import json
from typing import Any

from judge.domain.rubric import DEFAULT_CRITERIA, Criterion, Rubric
from judge.domain.verdict import STEPS

RUBRIC = Rubric("default", DEFAULT_CRITERIA["de"])
SMALL = Rubric("small", (Criterion("quality", "Quality", "How good"), Criterion("warmth", "Warmth", "How warm")))


def document(rubric: Rubric = SMALL) -> dict[str, Any]:
    """A valid verdict document for `rubric`."""
    return {
        "chain_of_thought": {step: f"thought {index}" for index, step in enumerate(STEPS, 1)},
        "criteria_scores": {key: {"reasoning": "why", "score_a": 4, "score_b": 2.5} for key in rubric.keys},
        "winner": "A",
        "confidence": 0.8,
        "final_justification": "A is closer to the client.",
    }


def answer(rubric: Rubric = SMALL) -> str:
    """The same as the text a model would send."""
    return json.dumps(document(rubric))
