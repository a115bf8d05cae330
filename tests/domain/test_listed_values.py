"""Scales in the schema: llama.cpp's grammar knows `enum` and no range of a number, so the values are listed."""

import json

from judge.domain.rubric import Criterion, Rubric
from judge.domain.verdict import json_schema, parse_verdict
from tests.domain.answers import RUBRIC, document


def scale(rubric: Rubric) -> dict[str, object]:
    criteria = json_schema(rubric)["properties"]["criteria_scores"]["properties"]
    return next(iter(criteria.values()))["properties"]["score_a"]


def test_scores_are_listed_in_half_points_within_their_scale() -> None:
    listed = scale(RUBRIC)
    assert listed["enum"] == [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]
    assert (listed["type"], listed["minimum"], listed["maximum"]) == ("number", 1, 5)


def test_confidence_is_listed_from_nought_to_one() -> None:
    listed = json_schema(RUBRIC)["properties"]["confidence"]["enum"]
    assert (listed[0], listed[1], listed[-1], len(listed)) == (0, 0.05, 1, 21)
    assert listed == sorted(listed)


def test_a_long_scale_keeps_its_range_alone() -> None:
    wide = Rubric("Example", (Criterion("points", "Points", "Out of a hundred.", scale_min=0, scale_max=100),))
    assert scale(wide) == {"type": "number", "minimum": 0, "maximum": 100}


def test_a_number_that_is_not_listed_is_taken_as_it_is() -> None:
    sent = document(RUBRIC)
    sent["criteria_scores"]["empathy"]["score_a"] = 4.7
    sent["confidence"] = 0.833
    verdict = parse_verdict(json.dumps(sent), RUBRIC)
    assert verdict.confidence == 0.833
    assert 4.7 in [score.score_a for score in verdict.scores]
