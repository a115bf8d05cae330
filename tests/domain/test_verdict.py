"""Valid verdicts, their schema, and the rule that finds the JSON in an answer."""

import json

import pytest

from judge.domain.rubric import Criterion, Rubric
from judge.domain.states import Winner
from judge.domain.verdict import InvalidAnswer, extract_json, json_schema, parse_verdict
from tests.domain.answers import RUBRIC, SMALL, answer, document


def test_a_valid_answer_becomes_a_verdict_with_nothing_changed():
    verdict = parse_verdict(answer(RUBRIC), RUBRIC)
    assert verdict.winner is Winner.A
    assert verdict.confidence == 0.8
    assert verdict.reasoning == "A is closer to the client."
    assert [score.key for score in verdict.scores] == list(RUBRIC.keys)
    assert {(score.score_a, score.score_b) for score in verdict.scores} == {(4.0, 2.5)}
    assert verdict.document == document(RUBRIC)
    assert verdict.chain_of_thought["step_6_comparison"] == "thought 6"


@pytest.mark.parametrize("winner", ["A", "B", "TIE"])
@pytest.mark.parametrize("confidence", [0, 0.5, 1, 1.0])
def test_all_winners_and_the_ends_of_the_confidence_scale_are_accepted(winner: str, confidence: float):
    verdict = parse_verdict(json.dumps({**document(), "winner": winner, "confidence": confidence}), SMALL)
    assert (verdict.winner, verdict.confidence) == (winner, confidence)


def test_scores_keep_to_the_scale_of_their_own_criterion():
    rubric = Rubric("wide", (Criterion("quality", "Q", "", scale_min=0, scale_max=10), Criterion("warmth", "W", "")))
    data = document(rubric)
    data["criteria_scores"]["quality"]["score_a"] = 10
    assert parse_verdict(json.dumps(data), rubric).scores[0].score_a == 10
    data["criteria_scores"]["warmth"]["score_a"] = 10
    with pytest.raises(InvalidAnswer):
        parse_verdict(json.dumps(data), rubric)


@pytest.mark.parametrize(
    "key", ["copy", "json", "schema", "model_dump", "model_config", "title", "description", "class"]
)
def test_a_criterion_may_be_named_like_anything(key: str):
    rubric = Rubric("odd", (Criterion(key, "Odd", ""),))
    assert parse_verdict(answer(rubric), rubric).scores[0].key == key
    assert list(json_schema(rubric)["properties"]["criteria_scores"]["properties"]) == [key]


def test_the_schema_asks_for_reasoning_before_scores_before_the_winner():
    schema = json_schema(RUBRIC)
    assert list(schema["properties"]) == [
        "chain_of_thought",
        "criteria_scores",
        "winner",
        "confidence",
        "final_justification",
    ]
    assert list(schema["properties"]["criteria_scores"]["properties"]) == list(RUBRIC.keys)
    assert next(iter(schema["properties"]["criteria_scores"]["properties"]["empathy"]["properties"])) == "reasoning"


def test_the_schema_is_closed_complete_and_free_of_references():
    schema = json_schema(RUBRIC)
    assert "$" not in json.dumps(schema)

    def check(node: dict) -> int:
        if node.get("type") != "object":
            return 0
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])
        return 1 + sum(check(child) for child in node["properties"].values())

    assert check(schema) == 3 + len(RUBRIC.criteria)


def test_changing_a_schema_changes_no_other():
    json_schema(RUBRIC)["properties"].clear()
    assert json_schema(RUBRIC)["properties"]


BODY = answer()


@pytest.mark.parametrize(
    "text",
    [
        BODY,
        f"\ufeff{BODY}",
        f"\n\n  {BODY}\n",
        f"<think>Hm {{not}} this: {{}}</think>\n{BODY}",
        f"<think>one</think><reasoning>two</reasoning>{BODY}",
        f"<THINKING>\nlong\n</THINKING>\n```json\n{BODY}\n```",
        f"my thoughts about {{A}} without opening tag</think>{BODY}",
        f"```json\n{BODY}\n```",
        f"```\n{json.dumps(document(), indent=2)}\n```",
        f"```json {BODY} ```",
        f"Here is my verdict:\n```json\n{BODY}\n```\nI hope this helps with {{A}} and {{B}}!",
        f"Text {{A}} is better. {BODY} Done.",
        f"{BODY}\n\n{BODY}",
        f"```json\n{BODY}\n```\nAgain: {BODY}",
    ],
)
def test_the_json_is_found_by_the_fixed_rule(text: str):
    assert json.loads(extract_json(text)) == document()
    assert parse_verdict(text, SMALL).winner is Winner.A


def test_braces_quotes_and_fences_inside_strings_do_not_mislead():
    data = {**document(), "final_justification": 'a } b { c " d \\ ```json {} ``` </think> <think>'}
    for text in (json.dumps(data), f"So: {json.dumps(data)}"[4:], f"```\n{json.dumps(data)}\n```"):
        assert parse_verdict(text, SMALL).reasoning == data["final_justification"]


def test_objects_that_differ_only_in_true_and_one_are_different():
    with pytest.raises(InvalidAnswer):
        extract_json('x {"a": 1} {"a": true}')
    assert extract_json('x {"a": 1, "b": 2} {"b": 2, "a": 1}') == '{"a": 1, "b": 2}'


def test_a_megabyte_of_braces_is_refused_without_recursion():
    for text in ("{" * 1_000_000, '{"a":' * 200_000, "[" * 100_000, "{}" * 20_000 + "{", "```\n" * 100_000):
        with pytest.raises(InvalidAnswer):
            parse_verdict(text, SMALL)
