"""Other servers, played: what they refuse, ignore and list."""

import json
from typing import Any

import openai
import pytest

from judge.simulated.manners import example_of
from judge.simulated.quality import QualityIndex
from judge.simulated.server import SimulatedServer
from tests.simulated.test_verdict import letter, sent

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "word": {"type": "string", "enum": ["vellomir"]},
        "sure": {"type": "boolean"},
        "number": {"type": "integer", "minimum": 3},
        "list": {"type": "array"},
        "inner": {"type": "object", "properties": {"text": {"type": "string"}}},
    },
}
EXAMPLE = {"word": "vellomir", "sure": True, "number": 3, "list": [], "inner": {"text": "simulated"}}
BOUND = {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}


def ask(content: str, key: str = "any", **options: Any) -> str:
    with (
        SimulatedServer(index=QualityIndex({})) as server,
        openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0) as client,
    ):
        server.play(**options.pop("manners", {}))
        messages = options.pop("messages", [{"role": "user", "content": content}])
        completion = client.chat.completions.create(model="m", messages=messages, **options)
    return str(completion.choices[0].message.content)


def test_an_example_fulfils_its_schema() -> None:
    assert example_of(SCHEMA) == EXAMPLE


def test_a_question_gets_an_answer_in_the_form_asked_for() -> None:
    assert json.loads(ask("?", response_format=BOUND)) == EXAMPLE
    assert json.loads(ask(f'{{no}} {{"a": 1}} {json.dumps(SCHEMA)}')) == EXAMPLE
    assert "no LLM" in ask("?")


@pytest.mark.parametrize("reads_schema", [True, False])
def test_a_schema_may_be_ignored(reads_schema: bool) -> None:
    manners = {"binds": False, "reads_schema": reads_schema}
    answer = json.loads(ask(json.dumps(SCHEMA), response_format=BOUND, manners=manners))
    assert (answer == EXAMPLE) is reads_schema


@pytest.mark.parametrize(
    ("manners", "options", "param"),
    [
        ({"formats": frozenset({"json_object"})}, {"response_format": BOUND}, "response_format"),
        ({"refuses": frozenset({"max_tokens"})}, {"max_tokens": 5}, "max_tokens"),
    ],
)
def test_what_is_refused_is_named(manners: dict[str, Any], options: dict[str, Any], param: str) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        ask("?", manners=manners, **options)
    assert caught.value.param == param


def test_a_key_may_be_demanded() -> None:
    assert ask("?", key="right", manners={"key": "right"})
    with pytest.raises(openai.AuthenticationError):
        ask("?", key="wrong", manners={"key": "right"})


def test_two_threads_are_judged_whatever_server_is_played() -> None:
    verdict = ask("", messages=sent(letter("Eins"), letter("Zwei")), manners={"formats": frozenset()})
    assert json.loads(verdict)["winner"] in {"A", "B", "TIE"}
