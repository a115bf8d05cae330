"""A call that goes well: what is sent, what comes back, and how the connection is kept."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.states import Winner
from judge.domain.verdict import json_schema, parse_verdict
from judge.llm.client import CallFailed, client_for
from judge.llm.endpoint import Endpoint
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.llm.asking import KEY, RUBRIC, ask, code, endpoint_of, failure, prompt_messages


def test_a_streamed_answer_is_a_valid_verdict(endpoint: Endpoint) -> None:
    pieces: list[str] = []
    answer = ask(endpoint, on_text=pieces.append)
    assert parse_verdict(answer.text, RUBRIC).winner is Winner.A
    assert "".join(pieces) == answer.text
    assert len(pieces) > 20
    assert (answer.finish_reason, answer.model_returned, answer.http_status) == ("stop", "simulated-judge", 200)
    assert answer.prompt_tokens is not None
    assert answer.prompt_tokens > 500
    assert answer.completion_tokens == len(answer.text) // 4
    assert answer.first_token_ms is not None
    assert 0 <= answer.first_token_ms <= answer.latency_ms


def test_the_schema_and_the_stream_options_are_sent(endpoint: Endpoint, server: SimulatedServer) -> None:
    ask(replace(endpoint, parameters={"temperature": 0, "seed": 7}), max_tokens=900)
    sent = server.requests[0]
    assert sent["messages"] == prompt_messages()
    assert sent["response_format"]["json_schema"]["schema"] == json_schema(RUBRIC)
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["stream_options"] == {"include_usage": True}
    assert (sent["model"], sent["temperature"], sent["seed"], sent["max_tokens"]) == ("simulated-judge", 0, 7, 900)


@pytest.mark.parametrize(("mode", "sent_as"), [("json_object", {"type": "json_object"}), ("text", None)])
def test_weaker_output_modes_still_bring_the_rubric_through_the_prompt(
    endpoint: Endpoint, server: SimulatedServer, mode: str, sent_as: object
) -> None:
    answer = ask(replace(endpoint, structured_output=mode))  # type: ignore[arg-type]
    assert server.requests[0].get("response_format") == sent_as
    assert len(parse_verdict(answer.text, RUBRIC).scores) == len(RUBRIC.criteria)


def test_a_reasoning_models_limit_keeps_its_own_name(endpoint: Endpoint, server: SimulatedServer) -> None:
    ask(replace(endpoint, parameters={"max_completion_tokens": 100}), max_tokens=900)
    assert server.requests[0]["max_completion_tokens"] == 900
    assert "max_tokens" not in server.requests[0]


def test_a_parameter_cannot_replace_the_messages(endpoint: Endpoint, server: SimulatedServer) -> None:
    caught = failure(replace(endpoint, parameters={"messages": []}))
    assert caught.code is ErrorCode.BAD_REQUEST
    assert "messages" in caught.message
    assert server.calls == 0


def test_nothing_about_the_machine_is_sent(endpoint: Endpoint, server: SimulatedServer, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-somebody")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: secret")
    ask(replace(endpoint, provider_id=4711))
    assert set(server.requests[0]["_headers"]) <= {
        "accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host",
        "user-agent",
    }  # fmt: skip


def test_without_a_key_no_authorization_is_sent(endpoint: Endpoint, server: SimulatedServer) -> None:
    ask(replace(endpoint, api_key=""))
    assert "authorization" not in server.requests[0]["_headers"]


def test_proxies_of_the_environment_are_ignored(endpoint: Endpoint, monkeypatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert ask(replace(endpoint, provider_id=4712)).finish_reason == "stop"


def test_one_client_per_provider_address_and_key(endpoint: Endpoint) -> None:
    assert client_for(endpoint) is client_for(replace(endpoint, model_name="another"))
    assert client_for(endpoint) is not client_for(replace(endpoint, api_key="another"))
    assert client_for(endpoint) is not client_for(replace(endpoint, provider_id=2))
    assert client_for(endpoint).max_retries == 0


def test_the_key_is_in_no_representation(endpoint: Endpoint) -> None:
    assert KEY not in repr(endpoint)


def test_even_at_debug_no_thread_text_and_no_key_is_logged(endpoint: Endpoint, caplog) -> None:
    with caplog.at_level(logging.DEBUG):
        ask(replace(endpoint, provider_id=4713))
    assert "weiß" not in caplog.text
    assert KEY not in caplog.text


def test_five_threads_share_one_client(endpoint: Endpoint) -> None:
    with ThreadPoolExecutor(5) as lanes:
        answers = list(lanes.map(lambda _: ask(endpoint).text, range(20)))
    assert len(set(answers)) == 1


def test_a_connection_is_used_again(endpoint: Endpoint) -> None:
    endpoint = replace(endpoint, provider_id=4714)
    ask(endpoint)
    pool = client_for(endpoint)._client._transport._pool  # type: ignore[attr-defined]
    before = pool.connections
    ask(endpoint)
    assert len(pool.connections) == len(before) == 1
    assert pool.connections[0] is before[0]


def test_a_stop_ends_the_call_in_mid_stream() -> None:
    with SimulatedServer(SimulatedSettings(latency_ms=60_000, chunks=2400, first_token_share=0)) as slow:
        pieces: list[str] = []
        caught = failure(endpoint_of(slow), on_text=pieces.append, stop=lambda: len(pieces) >= 3)
    assert caught.code is ErrorCode.CANCELLED
    assert caught.partial_text == "".join(pieces)
    assert caught.latency_ms is not None
    assert caught.latency_ms < 30_000


def test_a_stop_is_noticed_while_the_server_is_silent(server: SimulatedServer, endpoint: Endpoint) -> None:
    server.script({"kind": "silence", "seconds": 60})
    pieces: list[str] = []
    caught = failure(endpoint, on_text=pieces.append, stop=lambda: bool(pieces))
    assert caught.code is ErrorCode.CANCELLED
    assert caught.latency_ms is not None
    assert caught.latency_ms < 20_000


def test_a_stop_before_the_call_sends_nothing(server: SimulatedServer, endpoint: Endpoint) -> None:
    assert code(endpoint, stop=lambda: True) is ErrorCode.CANCELLED
    assert server.calls == 0


def test_an_error_of_the_watcher_is_its_own(endpoint: Endpoint) -> None:
    def broken(piece: str) -> None:
        raise LookupError(piece)

    with pytest.raises(LookupError):
        ask(endpoint, on_text=broken)
    assert ask(endpoint).finish_reason == "stop"


def test_a_failure_keeps_what_is_known_of_the_call(server: SimulatedServer, endpoint: Endpoint) -> None:
    server.script("length")
    with pytest.raises(CallFailed) as caught:
        ask(endpoint)
    assert caught.value.partial_text.startswith('{"chain_of_thought"')
    assert caught.value.model_returned == "simulated-judge"
    assert caught.value.completion_tokens == len(caught.value.partial_text) // 4
    assert (caught.value.finish_reason, caught.value.http_status) == ("length", 200)


def test_a_kept_connection_that_the_server_closed_is_not_used_again() -> None:
    with SimulatedServer() as first:
        endpoint = endpoint_of(first)
        ask(endpoint)
    with SimulatedServer(port=first.port) as second:
        assert ask(endpoint).finish_reason == "stop"
        assert second.calls == 1
