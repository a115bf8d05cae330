"""What a valid verdict is: the schema made from a rubric, and the parser that accepts nothing less."""

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from judge.domain.answer_text import (
    InvalidAnswer,
    extract_json,
    holds_unstorable_characters,
    looks_like_refusal,
)
from judge.domain.errors import ErrorCode
from judge.domain.rubric import Rubric
from judge.domain.states import Winner

__all__ = [
    "STEPS",
    "CriterionScore",
    "InvalidAnswer",
    "Verdict",
    "extract_json",
    "json_schema",
    "looks_like_refusal",
    "parse_verdict",
    "verdict_model",
]

STEPS: Final = (
    "step_1_overview",
    "step_2_strengths_a",
    "step_3_strengths_b",
    "step_4_weaknesses_a",
    "step_5_weaknesses_b",
    "step_6_comparison",
)

_MAX_PROBLEMS: Final = 20
# Steps between whole numbers that a server bound to the schema may choose from, and how many are worth listing.
_SCORE_STEPS: Final = 2
_CONFIDENCE_STEPS: Final = 20
_MAX_STEPS: Final = 50
_RULES: Final = {
    "missing": "missing",
    "extra_forbidden": "unexpected field",
    "string_type": "not a text",
    "float_type": "not a number",
    "finite_number": "not a finite number",
    "greater_than_equal": "out of range",
    "less_than_equal": "out of range",
    "literal_error": "not one of A, B, TIE",
    "model_type": "not an object",
}


@dataclass(frozen=True)
class CriterionScore:
    """Scores of both texts on one criterion, on that criterion's scale."""

    key: str
    score_a: float
    score_b: float
    reasoning: str


@dataclass(frozen=True)
class Verdict:
    """A validated answer. A is the text shown first, whatever thread it was.

    `confidence` is in [0, 1]; `reasoning` is the final justification; `scores` stand in the rubric's order;
    `document` is the JSON as the model sent it.
    """

    winner: Winner
    confidence: float
    reasoning: str
    chain_of_thought: dict[str, str]
    scores: tuple[CriterionScore, ...]
    document: dict[str, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


_Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


@lru_cache(maxsize=64)
def verdict_model(rubric: Rubric) -> type[BaseModel]:
    """The strict Pydantic model of a verdict under `rubric`: nothing missing, nothing more, reasoning before scores
    before the winner. Criterion fields are reached by their key as alias, so no key can shadow a model attribute."""
    thoughts = create_model("ChainOfThought", __base__=_Strict, **_required(dict.fromkeys(STEPS, str)))
    criteria = {}
    for criterion in rubric.criteria:
        low, high = criterion.scale_min, criterion.scale_max
        score = Annotated[_Number, Field(ge=low, le=high, json_schema_extra=_steps(low, high, _SCORE_STEPS))]
        entry = create_model(
            f"Score_{criterion.key}",
            __base__=_Strict,
            **_required({"reasoning": str, "score_a": score, "score_b": score}),
        )
        criteria[f"criterion_{criterion.key}"] = (entry, Field(alias=criterion.key))
    scores = create_model("CriteriaScores", __base__=_Strict, **cast(dict[str, Any], criteria))
    fields = {
        "chain_of_thought": thoughts,
        "criteria_scores": scores,
        "winner": Literal["A", "B", "TIE"],
        "confidence": Annotated[_Number, Field(ge=0, le=1, json_schema_extra=_steps(0, 1, _CONFIDENCE_STEPS))],
        "final_justification": str,
    }
    return create_model("Verdict", __base__=_Strict, **_required(fields))


def json_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON schema of a verdict, without references, every property required and none additional: what the
    `json_schema` response format (strict) of OpenAI-compatible servers accepts. A fresh copy on every call."""
    return copy.deepcopy(_json_schema(rubric))


def last_words(rubric: Rubric) -> str:
    """What stands in an answer shortly before its end: the last criterion; only the winner and a few words follow."""
    return f'"{rubric.criteria[-1].key}"'


def parse_verdict(text: str, rubric: Rubric) -> Verdict:
    """The verdict in a model's raw answer.

    Raises InvalidAnswer (empty, refused, invalid_json, invalid_verdict) for everything that is not a complete verdict
    within the rubric's scales; nothing is repaired, filled in or rounded.
    """
    if holds_unstorable_characters(text):
        raise InvalidAnswer(ErrorCode.INVALID_JSON, ("answer: forbidden character",))
    document = _load(extract_json(text))
    try:
        verdict_model(rubric).model_validate(document)
    except ValidationError as error:
        raise InvalidAnswer(ErrorCode.INVALID_VERDICT, _problems(error)) from None
    # Escapes (\u0000, \ud800) show only after decoding.
    if any(holds_unstorable_characters(part) for part in _strings(document)):
        raise InvalidAnswer(ErrorCode.INVALID_VERDICT, ("answer: forbidden character",))
    return _verdict(document, rubric)


def _steps(low: int, high: int, parts: int) -> dict[str, Any]:
    """The values of a scale, listed for the schema: the llama.cpp server enforces `enum`, but neither
    `minimum` nor `maximum` of a number. The parser takes any number in range, listed or not."""
    if (high - low) * parts > _MAX_STEPS:
        return {}
    values = [step / parts for step in range(low * parts, high * parts + 1)]
    return {"enum": [int(value) if value.is_integer() else value for value in values]}


def _required(types: dict[str, Any]) -> dict[str, Any]:
    return {name: (annotation, ...) for name, annotation in types.items()}


@lru_cache(maxsize=64)
def _json_schema(rubric: Rubric) -> dict[str, Any]:
    schema = verdict_model(rubric).model_json_schema(by_alias=True)
    definitions = schema.pop("$defs")

    def inline(node: Any, is_property_map: bool = False) -> Any:
        if isinstance(node, list):
            return [inline(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return inline(definitions[node["$ref"].rsplit("/", 1)[1]])
        # A property may itself be called "title" or "description"; only the schema's own notes are dropped.
        dropped = () if is_property_map else ("title", "description")
        return {key: inline(value, key == "properties") for key, value in node.items() if key not in dropped}

    return cast(dict[str, Any], inline(schema))


def _load(text: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise InvalidAnswer(ErrorCode.INVALID_VERDICT, ("answer: duplicate key",))
        return result

    def not_finite(_: str) -> Any:
        raise InvalidAnswer(ErrorCode.INVALID_VERDICT, ("answer: not a finite number",))

    try:
        return cast(dict[str, Any], json.loads(text, object_pairs_hook=unique, parse_constant=not_finite))
    except (ValueError, RecursionError):
        raise InvalidAnswer(ErrorCode.INVALID_JSON, ("answer: malformed JSON",)) from None


def _strings(node: Any) -> Iterator[str]:
    """Every text in a validated document, which is objects all the way down and nests as deep as the schema."""
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for value in node.values():
            yield from _strings(value)


def _problems(error: ValidationError) -> tuple[str, ...]:
    problems: dict[str, None] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        path = item["loc"]
        if item["type"] == "extra_forbidden":
            path = path[:-1]  # the last part is the model's own word
        rule = _RULES.get(item["type"], "invalid")
        problems[f"{'.'.join(map(str, path)) or 'answer'}: {rule}"] = None
    return tuple(problems)[:_MAX_PROBLEMS]


def _verdict(document: dict[str, Any], rubric: Rubric) -> Verdict:
    entries = document["criteria_scores"]
    scores = tuple(
        CriterionScore(
            key=key,
            score_a=float(entries[key]["score_a"]),
            score_b=float(entries[key]["score_b"]),
            reasoning=entries[key]["reasoning"],
        )
        for key in rubric.keys
    )
    return Verdict(
        winner=Winner(document["winner"]),
        confidence=float(document["confidence"]),
        reasoning=document["final_justification"],
        chain_of_thought=dict(document["chain_of_thought"]),
        scores=scores,
        document=document,
    )
