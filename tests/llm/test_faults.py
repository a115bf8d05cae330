"""One call against a server that fails, over real HTTP: which code each fault gets, and that its limits hold."""

import socket
import threading
import time
from dataclasses import replace

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.verdict import InvalidAnswer, parse_verdict
from judge.llm.client import Limits
from judge.llm.endpoint import Endpoint
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.llm.asking import KEY, PATIENT, RUBRIC, ask, code, endpoint_of, failure

E = ErrorCode


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class TestConnection:
    def test_refused(self, endpoint: Endpoint) -> None:
        assert code(replace(endpoint, base_url=f"http://127.0.0.1:{unused_port()}/v1")) is E.CONNECTION_FAILED

    def test_unknown_name(self, endpoint: Endpoint) -> None:
        caught = failure(replace(endpoint, base_url="https://judge.invalid/v1"))
        assert caught.code is E.CONNECTION_FAILED
        assert "name" in caught.message

    def test_tls_against_a_server_without_it(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        caught = failure(replace(endpoint, base_url=server.base_url.replace("http:", "https:")))
        assert (caught.code, caught.message) == (E.CONNECTION_FAILED, "TLS failed")

    def test_an_address_that_is_not_allowed_is_never_reached(self, endpoint: Endpoint, server: SimulatedServer) -> None:
        caught = failure(replace(endpoint, local_hosts=()))
        assert (caught.code, caught.message) == (E.ADDRESS_REFUSED, "address refused: local")
        assert server.calls == 0

    def test_a_name_that_turns_local_after_saving_is_refused_when_connecting(
        self, endpoint: Endpoint, server: SimulatedServer, monkeypatch
    ) -> None:
        def rebound(host, port, **options):
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", rebound)
        caught = failure(replace(endpoint, base_url="https://llm.example.org/v1", local_hosts=()))
        assert (caught.code, caught.message) == (E.ADDRESS_REFUSED, "address refused")
        assert server.calls == 0


# The one limit that ends a call, in seconds; all others are far off.
SHORT = 0.5


class TestDeadlines:
    def assert_cut(self, endpoint: Endpoint, limits: Limits, expected: ErrorCode) -> None:
        started = time.monotonic()
        assert code(endpoint, limits=limits) is expected
        assert SHORT - 0.1 <= time.monotonic() - started < 20

    def test_no_first_token(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "silence", "after": 0, "seconds": 30})
        self.assert_cut(endpoint, replace(PATIENT, first_token=SHORT), E.TIMEOUT_FIRST_TOKEN)

    def test_no_first_token_under_endless_keepalives(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "keepalive_forever", "after": 0, "seconds": 30})
        self.assert_cut(endpoint, replace(PATIENT, first_token=SHORT), E.TIMEOUT_FIRST_TOKEN)

    def test_silence_between_tokens(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "silence", "seconds": 30})
        self.assert_cut(endpoint, replace(PATIENT, silence=SHORT), E.TIMEOUT_SILENCE)

    def test_silence_under_endless_keepalives(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "keepalive_forever", "seconds": 30})
        self.assert_cut(endpoint, replace(PATIENT, silence=SHORT), E.TIMEOUT_SILENCE)

    def test_the_whole_call(self) -> None:
        with SimulatedServer(SimulatedSettings(latency_ms=60_000, chunks=600, first_token_share=0)) as slow:
            self.assert_cut(endpoint_of(slow), replace(PATIENT, total=SHORT), E.TIMEOUT_TOTAL)

    def test_a_server_that_sends_no_headers(self, endpoint: Endpoint) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
            self.assert_cut(
                replace(endpoint, base_url=address), replace(PATIENT, first_token=SHORT), E.TIMEOUT_FIRST_TOKEN
            )


class TestStatus:
    @pytest.mark.parametrize(
        ("fault", "expected"),
        [
            ({"status": 429}, E.RATE_LIMITED),
            ({"status": 429, "code": "insufficient_quota", "type": "insufficient_quota"}, E.INSUFFICIENT_QUOTA),
            ({"status": 402}, E.INSUFFICIENT_QUOTA),
            ({"status": 401, "code": "invalid_api_key"}, E.UNAUTHORIZED),
            ({"status": 403}, E.UNAUTHORIZED),
            ({"status": 500}, E.SERVER_ERROR),
            ({"status": 502}, E.SERVER_ERROR),
            ({"status": 503}, E.SERVER_ERROR),
            ({"status": 529}, E.SERVER_ERROR),
            ({"status": 408}, E.SERVER_ERROR),
            ({"status": 404, "code": "model_not_found"}, E.MODEL_NOT_FOUND),
            ({"status": 400, "message": "The model `x` does not exist"}, E.MODEL_NOT_FOUND),
            ({"status": 400, "code": "unsupported_parameter", "param": "temperature"}, E.BAD_REQUEST),
            ({"status": 422}, E.BAD_REQUEST),
            ({"status": 400, "code": "context_length_exceeded"}, E.TOO_LONG),
            ({"status": 400, "message": "This model's maximum context length is 4096 tokens."}, E.TOO_LONG),
            ({"status": 413}, E.TOO_LONG),
            ({"status": 400, "code": "content_filter"}, E.REFUSED),
            ({"status": 302, "location": "http://127.0.0.1:9/"}, E.BAD_REQUEST),
        ],
    )
    def test_status(self, server: SimulatedServer, endpoint: Endpoint, fault: dict, expected: ErrorCode) -> None:
        server.script({"kind": "status", **fault})
        caught = failure(endpoint)
        assert (caught.code, caught.http_status) == (expected, fault["status"])
        assert server.calls == 1

    def test_the_cause_is_named_by_identifiers_only(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script(
            {"kind": "status", "status": 400, "code": "unsupported_value", "message": f"bad temperature, key {KEY}"}
        )
        caught = failure(endpoint)
        assert caught.message == "HTTP 400, code unsupported_value, type invalid_request_error, about temperature"

    def test_a_key_echoed_as_a_code_is_dropped(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "status", "status": 401, "code": KEY})
        assert failure(endpoint).message == "HTTP 401, type authentication_error"

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry_after": "17"}, 17),
            ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
            ({"retry_after": "3600"}, 3600),
            ({"retry_after": "soon"}, None),
            ({}, None),
        ],
    )
    def test_retry_after(
        self, server: SimulatedServer, endpoint: Endpoint, headers: dict, seconds: float | None
    ) -> None:
        server.script({"kind": "status", "status": 429, **headers})
        assert failure(endpoint).retry_after == seconds

    def test_compression_is_refused_before_it_unpacks(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "status", "status": 500, "content_encoding": "gzip"})
        assert code(endpoint) is E.PROTOCOL_ERROR


class TestStream:
    @pytest.mark.parametrize(
        ("fault", "expected"),
        [
            ("html_200", E.PROTOCOL_ERROR),
            ("error_in_stream", E.PROTOCOL_ERROR),
            ({"kind": "error_in_stream", "code": "rate_limit_exceeded"}, E.RATE_LIMITED),
            ("malformed_events", E.PROTOCOL_ERROR),
            ({"kind": "malformed_events", "data": "data: [1]\n\n"}, E.PROTOCOL_ERROR),
            ({"kind": "malformed_events", "data": 'data: {"foo": 1}\n\n'}, E.PROTOCOL_ERROR),
            ("no_finish_reason", E.TRUNCATED),
            ({"kind": "no_finish_reason", "done": True}, E.TRUNCATED),
            ("half_stream", E.TRUNCATED),
            ({"kind": "half_stream", "after": 1}, E.TRUNCATED),
            ("reset", E.STREAM_RESET),
            ("length", E.LENGTH),
            ("content_filter", E.REFUSED),
            ("refusal", E.REFUSED),
            ("empty", E.EMPTY),
            ("too_many_bytes", E.TOO_LARGE),
            ("endless_newlines", E.TOO_LARGE),
        ],
    )
    def test_fault(self, server: SimulatedServer, endpoint: Endpoint, fault: str | dict, expected: ErrorCode) -> None:
        server.script(fault)
        assert code(endpoint) is expected
        assert ask(endpoint).finish_reason == "stop"

    @pytest.mark.parametrize("kind", ["text/html", "text/plain", "text/event-stream", "application/json", ""])
    def test_a_page_of_a_proxy_is_no_answer_whatever_it_calls_itself(
        self, server: SimulatedServer, endpoint: Endpoint, kind: str
    ) -> None:
        server.script({"kind": "html_200", "content_type": kind})
        caught = failure(endpoint)
        assert (caught.code, caught.http_status) == (E.PROTOCOL_ERROR, 200)
        assert "Welcome" not in f"{caught} {caught.partial_text}"

    def test_a_whole_answer_that_is_too_large_is_cut_at_the_cap(
        self, server: SimulatedServer, endpoint: Endpoint
    ) -> None:
        server.script({"kind": "reasoning_field", "text": "x" * 3_000_000, "streamed": False})
        assert code(endpoint) is E.TOO_LARGE

    def test_an_endless_error_is_read_no_further_than_needed(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "status", "status": 500, "message": "x" * 3_000_000})
        caught = failure(endpoint)
        assert (caught.code, caught.http_status) == (E.SERVER_ERROR, 500)

    def test_a_long_answer_below_the_cap_is_kept_whole(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "justified", "value": "x" * 100_000})
        answer = ask(endpoint)
        assert parse_verdict(answer.text, RUBRIC).reasoning == "x" * 100_000

    def test_blanks_alone_are_an_empty_answer(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script({"kind": "reasoning_field", "text": "\n \t\ufeff\r\n"})
        assert code(endpoint) is E.EMPTY

    def test_the_cap_bounds_what_is_kept(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script("too_many_bytes")
        assert len(failure(endpoint, limits=replace(PATIENT, max_bytes=50_000)).partial_text) <= 50_000

    def test_a_reset_before_the_answer_is_a_connection_failure(self, endpoint: Endpoint) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            hang_up = threading.Thread(target=lambda: listener.accept()[0].close())
            hang_up.start()
            caught = code(replace(endpoint, base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))
            hang_up.join()
        assert caught is E.CONNECTION_FAILED

    def test_a_flagged_provider_may_omit_the_finish_reason(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        flagged = replace(endpoint, may_omit_finish_reason=True)
        server.script({"kind": "no_finish_reason", "done": True}, "no_finish_reason")
        answer = ask(flagged)
        assert answer.finish_reason is None
        assert parse_verdict(answer.text, RUBRIC).confidence > 0.5
        assert code(flagged) is E.TRUNCATED

    def test_partial_text_of_a_reset_is_what_watchers_saw(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script("reset")
        pieces: list[str] = []
        caught = failure(endpoint, on_text=pieces.append)
        assert caught.partial_text == "".join(pieces)
        assert caught.partial_text.startswith('{"chain_of_thought"')

    def test_a_server_that_does_not_stream(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script("not_streamed")
        pieces: list[str] = []
        answer = ask(endpoint, on_text=pieces.append)
        assert pieces == [answer.text]
        assert parse_verdict(answer.text, RUBRIC).winner == "A"
        assert answer.completion_tokens is not None

    def test_a_separate_reasoning_field_stays_apart(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script("reasoning_field")
        answer = ask(endpoint)
        assert answer.reasoning_text == "First I compare A and B."
        assert answer.text.startswith("{")

    @pytest.mark.parametrize("fault", ["prose", "fenced", "think_block", "bom", "split_utf8"])
    def test_a_verdict_in_an_odd_coat_is_taken(self, server: SimulatedServer, endpoint: Endpoint, fault: str) -> None:
        plain = parse_verdict(ask(endpoint).text, RUBRIC)
        server.script(fault)
        assert parse_verdict(ask(endpoint).text, RUBRIC) == plain

    @pytest.mark.parametrize(
        ("fault", "expected"),
        [
            ("empty_object", E.INVALID_VERDICT),
            ("duplicate_keys", E.INVALID_VERDICT),
            ("nan", E.INVALID_VERDICT),
            ("bad_score", E.INVALID_VERDICT),
            ("bad_winner", E.INVALID_VERDICT),
            ("missing_criterion", E.INVALID_VERDICT),
            ("prose_only", E.INVALID_JSON),
            ("refusal_text", E.REFUSED),
        ],
    )
    def test_no_invalid_answer_becomes_a_verdict(
        self, server: SimulatedServer, endpoint: Endpoint, fault: str, expected: ErrorCode
    ) -> None:
        server.script(fault)
        with pytest.raises(InvalidAnswer) as caught:
            parse_verdict(ask(endpoint).text, RUBRIC)
        assert caught.value.code == expected

    @pytest.mark.parametrize("fault", ["nul", "lone_surrogate"])
    def test_text_that_no_database_stores_arrives_intact_and_is_refused(
        self, server: SimulatedServer, endpoint: Endpoint, fault: str
    ) -> None:
        server.script(fault)
        text = ask(endpoint).text
        assert "\\u0000" in text or "\ud83d" in text
        with pytest.raises(InvalidAnswer):
            parse_verdict(text, RUBRIC)

    @pytest.mark.parametrize("fault", ["usage_absurd", "usage_missing", {"kind": "usage_absurd", "value": "none"}])
    def test_absurd_usage_is_unknown(self, server: SimulatedServer, endpoint: Endpoint, fault: str | dict) -> None:
        server.script(fault)
        answer = ask(endpoint)
        assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)

    def test_another_models_name_is_told(self, server: SimulatedServer, endpoint: Endpoint) -> None:
        server.script("other_model")
        assert ask(endpoint).model_returned == "another-model"
