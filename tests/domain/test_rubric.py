"""Criteria and rubrics."""

import math

import pytest

from judge.domain.rubric import DEFAULT_CRITERIA, Criterion, Rubric, RubricError


@pytest.mark.parametrize("key", ["", "1st", "Empathy", "two words", "a-b", "x" * 65, "ä", "quality\n"])
def test_a_key_that_is_no_identifier_is_refused(key: str):
    with pytest.raises(RubricError) as error:
        Criterion(key, "Label", "")
    assert error.value.code == "invalid_criterion"


@pytest.mark.parametrize(
    "change", [{"weight": -1}, {"weight": math.nan}, {"weight": math.inf}, {"scale_min": 5}, {"label": "  "}]
)
def test_an_unusable_criterion_is_refused(change: dict[str, object]):
    with pytest.raises(RubricError):
        Criterion(**{"key": "quality", "label": "Quality", "description": "", **change})  # type: ignore[arg-type]


def test_a_rubric_needs_criteria_with_unique_keys():
    one = Criterion("quality", "Quality", "")
    with pytest.raises(RubricError):
        Rubric("empty", ())
    with pytest.raises(RubricError):
        Rubric("twice", (one, one))


def test_the_default_criteria_are_the_same_six_in_both_languages():
    expected = (
        "counsellor_coherence",
        "client_coherence",
        "quality",
        "empathy",
        "authenticity",
        "solution_orientation",
    )
    for criteria in DEFAULT_CRITERIA.values():
        assert Rubric("default", criteria).keys == expected
        assert all(item.description and (item.scale_min, item.scale_max) == (1, 5) for item in criteria)
    labels = [{item.label for item in DEFAULT_CRITERIA[language]} for language in ("de", "en")]
    assert not labels[0] & labels[1]
