"""How other servers differ from a perfect one: what they refuse, what they ignore, what they list."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from judge.simulated.replies import DEFAULT_MODEL, error_body

Headers = Iterable[tuple[bytes, bytes]]

_WRONG_KEY: Final = error_body("Incorrect API key provided.", "authentication_error", "invalid_api_key")
_NO_LIST: Final = error_body("unknown path", "invalid_request_error")


@dataclass(frozen=True)
class Manners:
    """The server that is played.

    `formats`: response formats it takes, all others get 400. `binds`: whether a JSON schema binds its answers, or is
    accepted and ignored. `reads_schema`: whether it follows a schema that stands in the prompt. `refuses`: fields of a
    request that get 400. `models`: what it lists; None: it has no list. `key`: what it demands; "": nothing.
    """

    formats: frozenset[str] = frozenset({"json_schema", "json_object"})
    binds: bool = True
    reads_schema: bool = True
    refuses: frozenset[str] = frozenset()
    models: tuple[str, ...] | None = (DEFAULT_MODEL,)
    key: str = ""

    def refusal(self, request: Mapping[str, Any], headers: Headers) -> tuple[int, bytes | None]:
        """Status and error for a request that this server does not take, as OpenAI words it; else 200 and None."""
        if not self._admits(headers):
            return 401, _WRONG_KEY
        wanted = _format_of(request)
        if wanted and wanted not in self.formats:
            message = f"Invalid parameter: 'response_format' of type '{wanted}' is not supported with this model."
            return 400, error_body(message, "invalid_request_error", "invalid_value", "response_format")
        for name in sorted(self.refuses & request.keys()):
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            return 400, error_body(message, "invalid_request_error", "unsupported_parameter", name)
        return 200, None

    def list_models(self, headers: Headers) -> tuple[int, bytes]:
        """Status and body of the list of models."""
        if not self._admits(headers):
            return 401, _WRONG_KEY
        if self.models is None:
            return 404, _NO_LIST
        entry = {"object": "model", "created": 1_735_689_600, "owned_by": "llars-simulated"}
        listed = {"object": "list", "data": [{"id": name, **entry} for name in self.models]}
        return 200, json.dumps(listed).encode()

    def answer(self, request: Mapping[str, Any], sentence: str) -> str:
        """The answer to anything but two threads: a small document that fulfils the schema, else the sentence."""
        wanted = _format_of(request)
        if wanted == "json_schema" and self.binds:
            return json.dumps(example_of(request["response_format"]["json_schema"]["schema"]))
        schema = _schema_in_prompt(request) if self.reads_schema else None
        if schema is not None:
            return json.dumps(example_of(schema))
        return json.dumps({"answer": sentence}) if wanted else sentence

    def _admits(self, headers: Headers) -> bool:
        return not self.key or (b"authorization", f"Bearer {self.key}".encode()) in headers


def example_of(schema: Mapping[str, Any]) -> Any:
    """A small value that fulfils a schema of objects, lists, texts, numbers and booleans."""
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {name: example_of(inner) for name, inner in schema.get("properties", {}).items()}
        case "array":
            return []
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return True
        case _:
            return "simulated"


def _format_of(request: Mapping[str, Any]) -> str:
    wanted = request.get("response_format")
    return str(wanted.get("type")) if isinstance(wanted, dict) else ""


def _schema_in_prompt(request: Mapping[str, Any]) -> dict[str, Any] | None:
    decoder = json.JSONDecoder()
    for message in request["messages"]:
        text = str(message.get("content"))
        start = text.find("{")
        while start >= 0:
            try:
                found, end = decoder.raw_decode(text, start)
            except ValueError:
                end = start + 1
            else:
                if isinstance(found, dict) and "properties" in found:
                    return found
            start = text.find("{", end)
    return None
