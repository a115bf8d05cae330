"""Whatever is no verdict fails with a code, and never becomes a tie, a three or one half."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.domain.errors import ErrorCode
from judge.domain.verdict import STEPS, InvalidAnswer, looks_like_refusal, parse_verdict
from tests.domain.answers import SMALL, answer, document

BODY = answer()
E = ErrorCode

TEXTS: list[tuple[str, ErrorCode]] = [
    ("", E.EMPTY),
    (" \n\t\r\n ", E.EMPTY),
    ("\ufeff", E.EMPTY),
    ("<think>I only thought.</think>", E.EMPTY),
    ("{}", E.INVALID_VERDICT),
    ("Both threads are good, but A is warmer.", E.INVALID_JSON),
    ("A", E.INVALID_JSON),
    ("winner: A", E.INVALID_JSON),
    ("null", E.INVALID_JSON),
    ("true", E.INVALID_JSON),
    ("5", E.INVALID_JSON),
    ("[]", E.INVALID_JSON),
    (f"[{BODY}]", E.INVALID_JSON),
    (f"```json\n[{BODY}]\n```", E.INVALID_JSON),
    (json.dumps(BODY), E.INVALID_JSON),
    (f"<think>never closed {BODY}", E.INVALID_JSON),
    (f"<think>one</think><reasoning>never closed {BODY}", E.INVALID_JSON),
    (f"<think>wrong end</reasoning>{BODY}", E.INVALID_JSON),
    (f"[THINK]never closed {BODY}", E.INVALID_JSON),
    ("I only thought.</think>", E.EMPTY),
    ("I only thought.</think> A is better.", E.INVALID_JSON),
    (f"{BODY} A thread says </think>{answer().replace('0.8', '0.7')}", E.INVALID_JSON),
    (f"```json\n{BODY}\n```\nA thread says </think>{answer().replace('0.8', '0.7')}", E.INVALID_JSON),
    (f"```json\n{BODY[:-1]}\n```", E.INVALID_JSON),
    (f"{BODY} and also {answer().replace('0.8', '0.7')}", E.INVALID_JSON),
    (f"```json\n{BODY}\n```\n```json\n{BODY.replace('0.8', '0.7')}\n```", E.INVALID_JSON),
    (f"```json\n{BODY}\n```\nor rather {BODY.replace('0.8', '0.7')}", E.INVALID_JSON),
    (BODY.replace('"winner": "A"', "\"winner\": 'A'"), E.INVALID_JSON),
    (BODY.replace("}}", "},}"), E.INVALID_JSON),
    (BODY.replace("thought 1", "line\nbreak"), E.INVALID_JSON),
    (f'{{"verdict": {BODY}', E.INVALID_JSON),
    (f'{{"verdict": {BODY}}}', E.INVALID_VERDICT),
    (BODY.replace("thought 1", "nul \x00 inside"), E.INVALID_JSON),
    (BODY + "\x00", E.INVALID_JSON),
    (BODY.replace("thought 1", "lone \ud800 inside"), E.INVALID_JSON),
    (BODY.replace("thought 1", r"nul \u0000 escaped"), E.INVALID_VERDICT),
    (BODY.replace("thought 1", r"lone \ud83d escaped"), E.INVALID_VERDICT),
    (BODY.replace('"winner": "A"', '"winner": "A", "winner": "B"'), E.INVALID_VERDICT),
    (BODY.replace('"winner": "A"', '"winner": "A", "winner": "A"'), E.INVALID_VERDICT),
    (BODY.replace('"score_a": 4', '"score_a": 4, "score_a": 5', 1), E.INVALID_VERDICT),
    (BODY.replace("0.8", "NaN"), E.INVALID_VERDICT),
    (BODY.replace("0.8", "Infinity"), E.INVALID_VERDICT),
    (BODY.replace("0.8", "-Infinity"), E.INVALID_VERDICT),
    (BODY.replace("0.8", "1e999"), E.INVALID_VERDICT),
    (BODY.replace('"score_a": 4', '"score_a": NaN', 1), E.INVALID_VERDICT),
    (BODY.replace('"score_a": 4', f'"score_a": {"9" * 400}', 1), E.INVALID_VERDICT),
    (BODY.replace('"score_a": 4', f'"score_a": {"9" * 5000}', 1), E.INVALID_JSON),
]


@pytest.mark.parametrize(("text", "code"), TEXTS)
def test_a_text_that_is_no_verdict_fails_with_its_code(text: str, code: ErrorCode):
    with pytest.raises(InvalidAnswer) as error:
        parse_verdict(text, SMALL)
    assert error.value.code == code
    assert error.value.problems


Change = Callable[[dict[str, Any]], object]


def _score(value: object) -> Change:
    return lambda data: data["criteria_scores"]["warmth"].update(score_b=value)


def _set(key: str, value: object) -> Change:
    return lambda data: data.update({key: value})


CHANGES: list[tuple[Change, str]] = [
    *[(_score(value), "criteria_scores.warmth.score_b: not a number") for value in (True, False, "3", None, [3], {})],
    *[(_score(value), "criteria_scores.warmth.score_b: out of range") for value in (0, 0.99, 5.01, 6, -1, 1e308)],
    *[(_set("winner", w), "winner: not one of A, B, TIE") for w in ("a", "b", "tie", "A ", "", "C", None, 1, True, [])],
    *[(_set("confidence", c), "confidence: not a number") for c in ("0.8", None, True, False, "high")],
    *[(_set("confidence", c), "confidence: out of range") for c in (-0.01, 1.01, 80)],
    *[(_set("final_justification", t), "final_justification: not a text") for t in (None, 1, ["x"], {})],
    *[(_set("criteria_scores", v), "criteria_scores: not an object") for v in (None, [], "x", 3)],
    *[(_set("chain_of_thought", v), "chain_of_thought: not an object") for v in (None, [], "x", 3)],
    *[
        (lambda data, step=step: data["chain_of_thought"].pop(step), f"chain_of_thought.{step}: missing")
        for step in STEPS
    ],
    *[
        (lambda data, key=key: data.pop(key), f"{key}: missing")
        for key in ("chain_of_thought", "criteria_scores", "winner", "confidence", "final_justification")
    ],
    (lambda data: data["criteria_scores"].pop("warmth"), "criteria_scores.warmth: missing"),
    (lambda data: data["criteria_scores"]["warmth"].pop("reasoning"), "criteria_scores.warmth.reasoning: missing"),
    (lambda data: data["criteria_scores"]["warmth"].pop("score_a"), "criteria_scores.warmth.score_a: missing"),
    (lambda data: data["criteria_scores"].update(warmth=4), "criteria_scores.warmth: not an object"),
    (lambda data: data["criteria_scores"].update(SECRET=4), "criteria_scores: unexpected field"),
    (lambda data: data["criteria_scores"]["warmth"].update(SECRET=4), "criteria_scores.warmth: unexpected field"),
    (lambda data: data.update(SECRET=4), "answer: unexpected field"),
    (lambda data: data["chain_of_thought"].update(SECRET="x"), "chain_of_thought: unexpected field"),
    (lambda data: data["criteria_scores"].update(criterion_warmth={}), "criteria_scores: unexpected field"),
]


@pytest.mark.parametrize(("change", "problem"), CHANGES)
def test_one_wrong_field_refuses_the_whole_answer_and_names_the_rule(change: Change, problem: str):
    data = document()
    change(data)
    with pytest.raises(InvalidAnswer) as error:
        parse_verdict(json.dumps(data), SMALL)
    assert error.value.code == E.INVALID_VERDICT
    assert error.value.problems == (problem,)
    assert "SECRET" not in str(error.value)


def test_an_answer_cut_off_anywhere_is_refused():
    for end in range(len(BODY)):
        with pytest.raises(InvalidAnswer):
            parse_verdict(BODY[:end], SMALL)


def test_an_answer_whose_beginning_is_lost_is_refused():
    for start in range(1, len(BODY)):
        with pytest.raises(InvalidAnswer):
            parse_verdict(BODY[start:], SMALL)


REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I’m sorry, I cannot assist with this request.",
    "Sorry, I can't evaluate these conversations.",
    "I cannot provide an assessment of this content.",
    "I am unable to help with content about self-harm.",
    "I apologize, but I won't be able to assist with this.",
    "As an AI language model, I cannot judge these texts.",
    "Es tut mir leid, aber ich kann Ihnen dabei nicht helfen.",
    "Tut mir leid, ich kann diese Anfrage nicht beantworten.",
    "Leider kann ich diese Texte nicht bewerten.",
    "Ich kann diese Verläufe nicht vergleichen.",
    "Ich bin nicht in der Lage, solche Inhalte zu beurteilen.",
    "**I'm sorry, but I can't assist with that.**",
]
NO_REFUSALS = [
    "",
    "Text A is better.",
    "I cannot say which is better, both are strong.",
    "I'm sorry for the delay. A wins.",
    "Ich kann nicht erkennen, welcher Text besser ist.",
    "Es tut mir leid zu lesen, wie es der Person geht. A ist besser.",
    "The counsellor says: I'm sorry, but I can't help with that.",
    'I\'m sorry, but I can\'t help with that. {"winner": "A"}',
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_is_called_a_refusal(text: str):
    assert looks_like_refusal(text)
    with pytest.raises(InvalidAnswer) as error:
        parse_verdict(text, SMALL)
    assert error.value.code == E.REFUSED


@pytest.mark.parametrize("text", NO_REFUSALS)
def test_prose_that_is_no_refusal_is_asked_again(text: str):
    assert not looks_like_refusal(text)


def test_a_verdict_that_quotes_a_refusal_stays_a_verdict():
    data = {**document(), "final_justification": REFUSALS[0]}
    assert parse_verdict(json.dumps(data), SMALL).reasoning == REFUSALS[0]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
)


@given(st.text() | JSON.map(json.dumps))
def test_nothing_but_a_verdict_is_ever_accepted_and_nothing_else_is_raised(text: str):
    with pytest.raises(InvalidAnswer) as error:
        parse_verdict(text, SMALL)
    assert error.value.code in {E.EMPTY, E.REFUSED, E.INVALID_JSON, E.INVALID_VERDICT}


@given(st.integers(0, len(BODY) - 1), st.characters(codec="utf-8"))
def test_one_changed_character_gives_a_valid_verdict_or_a_refusal_to_read_it(position: int, character: str):
    text = BODY[:position] + character + BODY[position + 1 :]
    try:
        verdict = parse_verdict(text, SMALL)
    except InvalidAnswer:
        return
    assert verdict.winner in {"A", "B"}
    assert 0 <= verdict.confidence <= 1
    assert all(1 <= score.score_a <= 5 and 1 <= score.score_b <= 5 for score in verdict.scores)


@pytest.mark.parametrize(
    "unit",
    [
        "sorry ", "as an ai ", "als ki ", "leider, ", "<think>", "</think>", "<think></think>", "[THINK]x[/THINK]\n",
        "I can't ", "{a} ", "{ </think>",
    ],
)  # fmt: skip
def test_a_long_hostile_answer_is_refused_without_backtracking(unit: str):
    with pytest.raises(InvalidAnswer):
        parse_verdict(unit * 50_000, SMALL)
