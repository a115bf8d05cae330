"""Servers that refuse fields of a request: what they refuse is named, and what is known to be refused is not sent."""

from dataclasses import replace

import pytest

from judge.domain.errors import ErrorCode
from judge.llm.endpoint import Endpoint
from judge.llm.failures import failure_of_status
from judge.simulated.server import SimulatedServer
from tests.llm.asking import KEY, ask, failure


@pytest.mark.parametrize(
    ("refused", "parameters", "max_tokens", "sent"),
    [
        (set(), {}, 900, {"max_tokens": 900}),
        ({"max_tokens"}, {}, 900, {"max_completion_tokens": 900}),
        ({"max_completion_tokens"}, {}, 900, {"max_tokens": 900}),
        ({"max_tokens", "max_completion_tokens"}, {}, 900, {}),
        ({"max_tokens"}, {"max_tokens": 300}, None, {"max_completion_tokens": 300}),
        ({"max_tokens"}, {"max_tokens": 300}, 900, {"max_completion_tokens": 900}),
        ({"max_completion_tokens"}, {"max_completion_tokens": 300}, 900, {"max_tokens": 900}),
        (set(), {"max_completion_tokens": 300}, 900, {"max_completion_tokens": 900}),
        (set(), {}, None, {}),
    ],
)
def test_the_limit_goes_under_the_name_that_the_model_takes(
    server: SimulatedServer,
    endpoint: Endpoint,
    refused: set[str],
    parameters: dict[str, int],
    max_tokens: int | None,
    sent: dict[str, int],
) -> None:
    server.play(refuses=frozenset(refused))
    answer = ask(replace(endpoint, parameters=parameters, refused_parameters=frozenset(refused)), max_tokens=max_tokens)
    assert answer.finish_reason == "stop"
    request = server.requests[0]
    assert {name: value for name, value in request.items() if name.startswith("max_")} == sent


def test_a_server_that_refuses_to_count_tokens_is_not_asked_to(server: SimulatedServer, endpoint: Endpoint) -> None:
    server.play(refuses=frozenset({"stream_options"}))
    assert failure(endpoint).parameter == "stream_options"
    answer = ask(replace(endpoint, refused_parameters=frozenset({"stream_options"})))
    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)


@pytest.mark.parametrize("name", ["max_tokens", "temperature"])
def test_a_refused_parameter_is_named(server: SimulatedServer, endpoint: Endpoint, name: str) -> None:
    server.play(refuses=frozenset({name}))
    caught = failure(replace(endpoint, parameters={name: 1}))
    assert (caught.code, caught.parameter) == (ErrorCode.BAD_REQUEST, name)


@pytest.mark.parametrize("mode", ["json_schema", "json_object"])
def test_a_refused_response_format_is_named(server: SimulatedServer, endpoint: Endpoint, mode: str) -> None:
    server.play(formats=frozenset())
    caught = failure(replace(endpoint, structured_output=mode))  # type: ignore[arg-type]
    assert (caught.code, caught.parameter) == (ErrorCode.BAD_REQUEST, "response_format")
    assert ask(replace(endpoint, structured_output="text")).finish_reason == "stop"


def test_a_reserved_parameter_is_named_without_a_call(server: SimulatedServer, endpoint: Endpoint) -> None:
    caught = failure(replace(endpoint, parameters={"stream": False}))
    assert caught.parameter == "stream"
    assert server.calls == 0


OPENAI = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        (400, {"error": {"message": OPENAI, "param": "max_tokens"}}, "max_tokens"),
        (400, {"error": {"message": OPENAI}}, "max_tokens"),
        (400, {"error": {"message": "x", "param": "response_format.json_schema"}}, "response_format"),
        (422, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]},
         "stream_options"),
        (422, {"detail": [{"loc": "body"}, 3]}, ""),
        (422, {"detail": "stream_options: unknown"}, ""),
        (400, "json_schema is unknown here", "json_schema"),
        (400, {"error": {"message": "x", "param": KEY}}, ""),
        (400, {"error": {"message": "x", "param": "a sentence of a thread"}}, ""),
        (400, {"error": {"message": "no"}}, ""),
        (500, {"error": {"message": OPENAI, "param": "max_tokens"}}, ""),
    ],
)  # fmt: skip
def test_the_parameter_is_read_from_any_form_of_error(status: int, body: object, parameter: str) -> None:
    assert failure_of_status(status, {}, body, KEY).parameter == parameter
