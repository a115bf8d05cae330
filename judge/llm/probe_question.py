"""The made-up question of a provider's test: harmless, tiny, and with an answer that no model gives by chance."""

import json
from typing import Any, Final

from judge.domain.answer_text import InvalidAnswer, extract_json, without_reasoning
from judge.domain.findings import OutputMode
from judge.domain.schema_text import schema_text

# No language knows this word, so only who holds to the schema writes it.
_NONSENSE: Final = "vellomir"

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "certain": {"type": "boolean"},
        "colour": {"type": "string", "enum": [_NONSENSE]},
    },
    "required": ["certain", "colour"],
    "additionalProperties": False,
}
OBEYED: Final = "obeyed"
NOT_OBEYED: Final = "not_obeyed"
NO_JSON: Final = "no_json"


def question(mode: OutputMode) -> list[dict[str, Any]]:
    """The messages. Where the server takes a schema, the prompt does not tell it: that is what is being tested."""
    system = "Answer with nothing but one JSON object."
    if mode != "json_schema":
        system = f"{system}\n\n{schema_text(SCHEMA, 'en')}"
    asked = "Which colour is a ripe lemon, and are you certain? Answer in JSON."
    return [{"role": "system", "content": system}, {"role": "user", "content": asked}]


def outcome(text: str) -> str:
    """OBEYED, NOT_OBEYED or NO_JSON, read by the rule that also reads verdicts."""
    try:
        document = json.loads(extract_json(text))
    except (InvalidAnswer, ValueError, RecursionError):
        return NO_JSON
    is_certain = isinstance(document.get("certain"), bool)
    is_right = is_certain and document.keys() == {"certain", "colour"} and document["colour"] == _NONSENSE
    return OBEYED if is_right else NOT_OBEYED


def begins_with_reasoning(text: str) -> bool:
    """Whether reasoning stands before the answer, in the answer's own text."""
    try:
        return len(without_reasoning(text)) < len(text.strip("\ufeff \t\r\n"))
    except InvalidAnswer:
        return True
