"""The schema in the prompt, for models that no server binds to it; for the others the prompt stays what it was."""

import json

import pytest

from judge.domain.prompt import DEFAULT_PROMPTS, RenderedPrompt, render_prompt
from judge.domain.rubric import DEFAULT_CRITERIA, Language, Rubric
from judge.domain.schema_text import with_schema
from judge.domain.verdict import json_schema

LANGUAGES = pytest.mark.parametrize("language", ["de", "en"])


def prompt(language: Language) -> RenderedPrompt:
    rubric = Rubric("default", DEFAULT_CRITERIA[language])
    return render_prompt(DEFAULT_PROMPTS[language], rubric, "a", "b", language, "n0nce-1234")


@LANGUAGES
def test_the_whole_schema_stands_at_the_end_of_the_system_part(language: Language) -> None:
    plain, schema = prompt(language), json_schema(Rubric("default", DEFAULT_CRITERIA[language]))
    told = with_schema(plain, schema, language)
    assert told.user == plain.user
    assert told.system.startswith(plain.system + "\n\nJSON")
    assert json.loads(told.system[told.system.rindex('\n{"') :]) == schema
    assert told.sha256 != plain.sha256


@LANGUAGES
def test_the_schema_asks_for_reasoning_before_scores_and_for_scores_before_the_winner(language: Language) -> None:
    schema = json_schema(Rubric("default", DEFAULT_CRITERIA[language]))
    text = with_schema(prompt(language), schema, language).system.rpartition("\n")[2]
    order = ["chain_of_thought", "step_1_overview", "step_6_comparison", "criteria_scores", '"reasoning"', '"score_a"',
             '"winner"', '"confidence"', "final_justification"]  # fmt: skip
    places = [text.index(name) for name in order]
    assert places == sorted(places)
    for entry in json.loads(text)["properties"]["criteria_scores"]["properties"].values():
        assert list(entry["properties"]) == ["reasoning", "score_a", "score_b"]
