"""The test of a provider against servers of all kinds, over HTTP: what it finds, and how few calls it makes."""

import json
import socket
import time
from dataclasses import replace

import pytest

from judge.domain.findings import ProviderFindings, Trial
from judge.llm import probe as probing
from judge.llm.endpoint import Endpoint
from judge.llm.probe import probe
from judge.llm.probe_question import outcome
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.llm.asking import KEY, THREAD_A, endpoint_of
from tests.llm.test_faults import unused_port


def outcomes(findings: ProviderFindings) -> list[tuple[str, str]]:
    return [(trial.mode, trial.outcome) for trial in findings.trials]


def test_a_server_that_can_everything(server: SimulatedServer, endpoint: Endpoint) -> None:
    found = probe(endpoint)
    assert (found.address, found.connection, found.key, found.problem) == ("allowed", "ok", "accepted", "")
    assert (found.models_listed, found.models, found.models_total) == (True, ("simulated-judge",), 1)
    assert (found.model_name, found.model_found) == ("simulated-judge", "listed")
    assert (found.streaming, found.usage, found.finish_reason) == ("streams", "reported", "reported")
    assert found.events is not None
    assert found.events > 1
    assert (found.output_mode, found.reasoning, found.refused_parameters) == ("json_schema", "none", ())
    assert not found.suggests_may_omit_finish_reason
    assert outcomes(found) == [("json_schema", "obeyed")]
    assert found.first_token_ms is not None
    assert found.total_ms is not None
    assert 0 <= found.first_token_ms <= found.total_ms == found.median_latency_ms <= found.duration_ms
    assert found.calls == server.calls == 1


def test_the_findings_survive_being_stored(endpoint: Endpoint) -> None:
    found = probe(endpoint)
    assert ProviderFindings.from_json(json.loads(json.dumps(found.as_json()))) == found
    assert ProviderFindings.from_json({"problem": "unauthorized", "of_the_future": 1}).problem == "unauthorized"


def test_neither_key_nor_thread_is_in_what_is_sent_or_found(server: SimulatedServer, endpoint: Endpoint) -> None:
    server.play(formats=frozenset(), reads_schema=False)
    found = probe(endpoint)
    assert KEY not in json.dumps(found.as_json())
    assert KEY not in json.dumps(server.requests)
    assert THREAD_A not in json.dumps(server.requests, ensure_ascii=False)
    assert all(len(json.dumps(request["messages"])) < 700 for request in server.requests)


@pytest.mark.parametrize(
    ("manners", "mode", "tried"),
    [
        ({"formats": frozenset({"json_object"})}, "json_object", ["bad_request", "obeyed"]),
        ({"formats": frozenset()}, "text", ["bad_request", "bad_request", "obeyed"]),
        ({"binds": False}, "json_object", ["not_obeyed", "obeyed"]),
        ({"binds": False, "reads_schema": False}, "", ["not_obeyed", "not_obeyed", "no_json"]),
        ({"formats": frozenset(), "reads_schema": False}, "", ["bad_request", "bad_request", "no_json"]),
    ],
)
def test_the_best_mode_that_works_is_found(
    server: SimulatedServer, endpoint: Endpoint, manners: dict, mode: str, tried: list[str]
) -> None:
    server.play(**manners)
    found = probe(endpoint)
    assert (found.output_mode, found.problem) == (mode, "")
    assert [trial.outcome for trial in found.trials] == tried
    assert [trial.mode for trial in found.trials] == ["json_schema", "json_object", "text"][: len(tried)]
    assert found.calls == server.calls == len(tried)


def test_where_the_server_is_to_bind_the_model_the_prompt_does_not_tell_the_schema(
    server: SimulatedServer, endpoint: Endpoint
) -> None:
    server.play(formats=frozenset())
    probe(endpoint)
    told = ["vellomir" in json.dumps(request["messages"]) for request in server.requests]
    assert told == [False, True, True]
    assert "vellomir" in json.dumps(server.requests[0]["response_format"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"certain": true, "colour": "vellomir"}', "obeyed"),
        ('Sure:\n```json\n{"certain": false, "colour": "vellomir"}\n```', "obeyed"),
        ('{"certain": true, "colour": "yellow"}', "not_obeyed"),
        ('{"certain": "yes", "colour": "vellomir"}', "not_obeyed"),
        ('{"certain": true, "colour": "vellomir", "more": 1}', "not_obeyed"),
        ('{"colour": ["vellomir"]}', "not_obeyed"),
        ("yellow", "no_json"),
        ('{"certain": true', "no_json"),
        ("<think>{}", "no_json"),
        ("", "no_json"),
    ],
)
def test_only_the_nonsense_word_in_the_right_shape_counts_as_obeyed(text: str, expected: str) -> None:
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("refuses", "parameters", "refused"),
    [
        ({"max_tokens"}, {}, ("max_tokens",)),
        ({"max_tokens", "max_completion_tokens"}, {}, ("max_completion_tokens", "max_tokens")),
        ({"stream_options"}, {}, ("stream_options",)),
        ({"temperature"}, {"temperature": 0, "seed": 1}, ("temperature",)),
        ({"max_tokens", "temperature", "stream_options"}, {"temperature": 0},
         ("max_tokens", "stream_options", "temperature")),
    ],
)  # fmt: skip
def test_refused_parameters_are_named_and_the_test_goes_on_without_them(
    server: SimulatedServer, endpoint: Endpoint, refuses: set[str], parameters: dict, refused: tuple[str, ...]
) -> None:
    server.play(refuses=frozenset(refuses))
    found = probe(replace(endpoint, parameters=parameters))
    assert (found.refused_parameters, found.output_mode) == (refused, "json_schema")
    assert found.calls == server.calls == len(refused) + 1


def test_a_test_makes_six_calls_at_most(server: SimulatedServer, endpoint: Endpoint) -> None:
    names = [f"parameter_{number}" for number in range(9)]
    server.play(refuses=frozenset(names))
    found = probe(replace(endpoint, parameters=dict.fromkeys(names, 1)))
    assert found.calls == server.calls == 6
    assert found.problem == "bad_request"


class TestWhatStopsIt:
    def test_nobody_answers(self, endpoint: Endpoint) -> None:
        found = probe(replace(endpoint, base_url=f"http://127.0.0.1:{unused_port()}/v1"))
        assert (found.connection, found.problem, found.calls) == ("refused", "connection_failed", 0)

    def test_a_name_that_is_not_known(self, endpoint: Endpoint) -> None:
        found = probe(replace(endpoint, base_url="https://judge.invalid/v1"))
        assert (found.address, found.connection) == ("allowed", "unknown_name")

    def test_no_encryption(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        found = probe(replace(endpoint, base_url=server.base_url.replace("http:", "https:")))
        assert (found.connection, found.problem) == ("tls_failed", "connection_failed")

    def test_a_forbidden_address(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        found = probe(replace(endpoint, local_hosts=()))
        assert (found.address, found.connection, found.problem) == ("local", "not_tried", "address_refused")
        assert server.calls == 0

    def test_a_wrong_key(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        server.play(key="another")
        found = probe(endpoint)
        assert (found.connection, found.key, found.problem) == ("ok", "refused", "unauthorized")
        assert server.calls == 0, "the list of models already said so"

    @pytest.mark.parametrize(
        ("fault", "key", "problem"),
        [
            ({"status": 401}, "refused", "unauthorized"),
            ({"status": 429, "code": "insufficient_quota"}, "no_quota", "insufficient_quota"),
            ({"status": 429}, "unknown", "rate_limited"),
            ({"status": 404, "code": "model_not_found"}, "unknown", "model_not_found"),
        ],
    )
    def test_a_refusal(self, endpoint: Endpoint, server: SimulatedServer, fault: dict, key: str, problem: str) -> None:
        server.script(rules=[{"kind": "status", **fault}])
        found = probe(endpoint)
        assert (found.connection, found.key, found.problem, found.calls) == ("ok", key, problem, 1)
        assert found.output_mode == ""

    def test_a_server_whose_every_answer_is_an_error(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        server.script(rules=[{"kind": "status", "status": 500}])
        found = probe(endpoint)
        assert (found.problem, found.calls, found.streaming) == ("server_error", 3, "unknown")

    def test_an_error_in_one_mode_only(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        server.script({"kind": "status", "status": 500})
        found = probe(endpoint)
        assert (found.problem, found.output_mode) == ("", "json_object")

    def test_silence(self, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(probing, "CALL_SECONDS", 0.5)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            started = time.monotonic()
            found = probe(replace(endpoint, base_url=f"http://127.0.0.1:{silent.getsockname()[1]}/v1"))
        assert (found.connection, found.problem) == ("timeout", "timeout_first_token")
        assert time.monotonic() - started < 20

    def test_all_calls_together_have_a_limit(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        server.script(rules=[{"kind": "keepalive_forever", "after": 0, "seconds": 60}])
        started = time.monotonic()
        found = probe(endpoint, seconds=1.5)
        assert found.problem in {"timeout_first_token", "timeout_total"}
        assert time.monotonic() - started < 30

    def test_the_end_of_its_worker(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        assert probe(endpoint, stop=lambda: True).problem == "cancelled"
        assert server.calls == 0


class TestTheModel:
    def test_a_server_without_a_list(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        server.play(models=None)
        found = probe(endpoint)
        assert (found.models_listed, found.model_found, found.output_mode) == (False, "unknown", "json_schema")

    def test_a_model_that_is_not_listed_may_answer_all_the_same(
        self, endpoint: Endpoint, server: SimulatedServer
    ) -> None:
        server.play(models=("b", "a"))
        found = probe(endpoint)
        assert (found.models, found.model_found, found.output_mode) == (("a", "b"), "not_listed", "json_schema")

    def test_of_a_long_list_two_hundred_names_are_kept(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        server.play(models=tuple(f"m{number:04}" for number in range(999, -1, -1)))
        found = probe(endpoint)
        assert (len(found.models), found.models_total, found.models[0]) == (200, 1000, "m0000")

    @pytest.mark.parametrize(("models", "asked"), [(("only",), "only"), (("a", "b"), ""), ((), ""), (None, "")])
    def test_without_a_name_the_only_listed_model_is_asked(
        self, endpoint: Endpoint, server: SimulatedServer, models: tuple[str, ...] | None, asked: str
    ) -> None:
        server.play(models=models)
        found = probe(replace(endpoint, model_name=""))
        assert (found.model_name, found.problem) == (asked, "")
        assert server.calls == bool(asked)

    def test_a_server_that_wants_no_key(self, endpoint: Endpoint) -> None:
        assert probe(replace(endpoint, api_key="")).key == "not_set"


class TestTheAnswers:
    @pytest.mark.parametrize(
        ("fault", "field", "value"),
        [
            ("not_streamed", "streaming", "whole"),
            ("usage_missing", "usage", "missing"),
            ("usage_absurd", "usage", "missing"),
            ({"kind": "no_finish_reason", "done": True}, "finish_reason", "missing"),
            ({"kind": "no_finish_reason", "done": True}, "suggests_may_omit_finish_reason", True),
            ("reasoning_field", "reasoning", "separate"),
            ({"kind": "reasoning_field", "field": "parts"}, "reasoning", "separate"),
            ("think_block", "reasoning", "block"),
            ({"kind": "think_block", "opening": ""}, "reasoning", "block"),
        ],
    )
    def test_how_they_come(
        self, endpoint: Endpoint, server: SimulatedServer, fault: str | dict, field: str, value: object
    ) -> None:
        server.script(fault)
        found = probe(endpoint)
        assert getattr(found, field) == value
        assert found.output_mode == "json_schema"

    def test_their_times_are_measured(self) -> None:
        settings = SimulatedSettings(latency_ms=400, chunks=4, first_token_share=0.5)
        with SimulatedServer(settings) as slow:
            found = probe(endpoint_of(slow))
        assert found.first_token_ms is not None
        assert found.median_latency_ms is not None
        assert 190 <= found.first_token_ms < found.median_latency_ms
        assert found.median_latency_ms >= 390

    def test_an_answer_that_breaks_off_everywhere_is_the_problem(
        self, endpoint: Endpoint, server: SimulatedServer
    ) -> None:
        server.script(rules=["half_stream"])
        found = probe(endpoint)
        assert (found.problem, found.output_mode) == ("truncated", "")
        assert found.trials[0] == Trial("json_schema", "truncated", found.trials[0].latency_ms)
