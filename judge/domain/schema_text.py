"""The schema of the answer as part of the prompt, for models that are not bound to it by their server."""

import json
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from judge.domain.prompt import RenderedPrompt
from judge.domain.rubric import Language

_INTRODUCTION: Final[Mapping[Language, str]] = MappingProxyType(
    {
        "de": "JSON-Schema der Antwort. Halten Sie es genau ein: alle Felder, in dieser Reihenfolge, keine weiteren.",
        "en": "JSON schema of the answer. Follow it exactly: all fields, in this order, no others.",
    }
)


def schema_text(schema: Mapping[str, Any], language: Language) -> str:
    """The schema with a line that says what to do with it. Fields stand in the schema's order, so that a model reasons
    before it names a winner."""
    return f"{_INTRODUCTION[language]}\n{json.dumps(schema, ensure_ascii=False)}"


def with_schema(prompt: RenderedPrompt, schema: Mapping[str, Any], language: Language) -> RenderedPrompt:
    """The prompt with the schema at the end of its system part, which is alike for all comparisons of a session."""
    return replace(prompt, system=f"{prompt.system}\n\n{schema_text(schema, language)}")
