"""The simulated server as any OpenAI-compatible client sees it."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import openai
import pytest
from django.core.management import CommandError, call_command

from judge.simulated.faults import KINDS, FaultError, Script
from judge.simulated.quality import QualityIndex
from judge.simulated.replies import cut, moments
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.simulated.test_verdict import letter, sent

MESSAGES = sent(letter("Eins"), letter("Zwei"))


@pytest.fixture
def server() -> Iterator[SimulatedServer]:
    with SimulatedServer(SimulatedSettings(chunks=40), QualityIndex({})) as running:
        yield running


@pytest.fixture
def client(server: SimulatedServer) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0) as opened:
        yield opened


def call(server: SimulatedServer, path: str, body: object = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    root = server.base_url.removesuffix("/v1")
    with urllib.request.urlopen(urllib.request.Request(root + path, data), timeout=5) as response:
        return json.load(response)


def test_the_openai_client_reads_its_stream(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="simulated-judge", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )  # type: ignore[call-overload]
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert (chunks[-1].choices, chunks[-1].usage.total_tokens > 0) == ([], True)
    assert {chunk.system_fingerprint for chunk in chunks} == {"simulated, no LLM"}
    texts = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]
    assert len(texts) == 40
    assert json.loads("".join(texts))["winner"] in {"A", "B", "TIE"}


def test_streamed_or_not_the_answer_is_the_same(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="m", messages=MESSAGES)  # type: ignore[call-overload]
    stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)  # type: ignore[call-overload]
    chunks = list(stream)
    assert all(chunk.usage is None for chunk in chunks)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == whole.choices[0].message.content
    assert whole.model == "m"
    assert whole.usage.completion_tokens == len(whole.choices[0].message.content) // 4


def test_it_says_what_it_is(client: openai.OpenAI, server: SimulatedServer) -> None:
    models = client.models.list().data
    assert [(model.id, model.owned_by) for model in models] == [("simulated-judge", "llars-simulated")]
    assert call(server, "/healthz") == {"status": "ok", "simulated": True}


@pytest.mark.parametrize(
    "body", [{}, {"model": "m"}, {"model": "m", "messages": []}, {"model": "m", "messages": ["x"]}, []]
)
def test_a_wrong_request_gets_an_openai_error(server: SimulatedServer, body: object) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(server, "/v1/chat/completions", body)
    with caught.value as response:
        assert response.status == 400
        assert json.load(response)["error"]["type"] == "invalid_request_error"
    assert server.calls == 0


def test_an_answer_takes_its_latency_and_not_more() -> None:
    with (
        SimulatedServer(SimulatedSettings(latency_ms=400, chunks=40), QualityIndex({})) as server,
        openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0) as client,
    ):
        client.models.list()
        started = time.monotonic()
        stream = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)  # type: ignore[call-overload]
        assert len(list(stream)) == 42
        assert 0.39 <= time.monotonic() - started <= 0.9


def test_requests_are_recorded_without_the_key(client: openai.OpenAI, server: SimulatedServer) -> None:
    client.chat.completions.create(model="m", messages=MESSAGES, temperature=0)  # type: ignore[call-overload]
    recorded = call(server, "/_control/calls")
    assert recorded["calls"] == server.calls == 1
    assert recorded["requests"][0]["messages"] == MESSAGES
    assert recorded["requests"][0]["temperature"] == 0
    assert "any" not in json.dumps(recorded["requests"][0]["_headers"])


def test_a_script_over_http_is_played_step_by_step(client: openai.OpenAI, server: SimulatedServer) -> None:
    call(server, "/_control/script", {"steps": [{"kind": "status", "status": 429, "retry_after": "3"}, "ok", "empty"]})
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="m", messages=MESSAGES)  # type: ignore[call-overload]
    assert caught.value.response.headers["retry-after"] == "3"
    answers = [client.chat.completions.create(model="m", messages=MESSAGES) for _ in range(3)]  # type: ignore[call-overload]
    assert [bool(answer.choices[0].message.content) for answer in answers] == [True, False, True]
    call(server, "/_control/reset", {})
    assert call(server, "/_control/calls") == {"calls": 0, "requests": []}


def test_an_unknown_fault_is_refused_by_name(server: SimulatedServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        call(server, "/_control/script", {"steps": ["no such fault"]})
    with caught.value as response:
        assert response.status == 400
    with pytest.raises(FaultError):
        server.script("no such fault")


def test_two_servers_run_side_by_side(server: SimulatedServer) -> None:
    with SimulatedServer(index=QualityIndex({})) as other:
        assert other.base_url != server.base_url
        assert call(other, "/healthz") == call(server, "/healthz")


class TestScript:
    def kinds(self, script: Script, *texts: str) -> list[str | None]:
        return [rule.kind if (rule := script.take(text)) else None for text in texts]

    def test_steps_come_before_rules(self) -> None:
        script = Script({"steps": ["empty"], "rules": [{"kind": "reset"}]})
        assert self.kinds(script, "x", "x", "x") == ["empty", "reset", "reset"]

    def test_a_rule_holds_for_its_texts_and_so_often(self) -> None:
        script = Script({"rules": [{"kind": "reset", "match": "needle", "times": 2}]})
        assert self.kinds(script, "a", "needle", "b needle", "needle") == [None, "reset", "reset", None]

    def test_a_share_is_chosen_by_the_text(self) -> None:
        script = Script({"rules": [{"kind": "reset", "share": 0.3}]})
        texts = [str(number) for number in range(1_000)]
        first = self.kinds(script, *texts)
        assert first == self.kinds(script, *texts)
        assert 230 <= first.count("reset") <= 370

    @pytest.mark.parametrize("data", [{"step": []}, ["x"], [3], [{"match": "x"}], "reset"])
    def test_a_wrong_script_is_refused(self, data: object) -> None:
        with pytest.raises(FaultError):
            Script(data)


@pytest.mark.parametrize("kind", sorted(KINDS - {"silence", "keepalive_forever", "too_many_bytes", "endless_newlines"}))
@pytest.mark.parametrize("streamed", [True, False])
def test_no_fault_breaks_the_server(server: SimulatedServer, kind: str, streamed: bool) -> None:
    server.script({"kind": kind, "latency_ms": 1})
    request = {"model": "m", "messages": MESSAGES, "stream": streamed}
    try:
        call(server, "/v1/chat/completions", request)
    except (OSError, ValueError) as fault:
        if isinstance(fault, urllib.error.HTTPError):
            fault.close()
    assert call(server, "/healthz")["status"] == "ok"
    assert server.calls == 1


@pytest.mark.parametrize(
    ("text", "chunks", "expected"), [("abcdef", 3, 3), ("ab", 40, 2), ("", 4, 0), ("x" * 100, None, 9)]
)
def test_texts_are_cut_without_loss(text: str, chunks: int | None, expected: int) -> None:
    pieces = cut(text, chunks)
    assert "".join(pieces) == text
    assert len(pieces) == expected
    assert all(pieces)


def test_the_last_piece_is_due_at_the_latency() -> None:
    due = list(moments(1_000, 0.2, 5))
    assert due[0] == pytest.approx(0.2)
    assert due[-1] == pytest.approx(1.0)
    assert due == sorted(due)
    assert list(moments(1_000, 0.2, 1)) == [1.0]


class TestCommand:
    def test_a_wrong_fault_file_is_a_clear_error(self, tmp_path: Path) -> None:
        file = tmp_path / "faults.json"
        file.write_text('["no such fault"]')
        with pytest.raises(CommandError, match="cannot use the fault script"):
            call_command("simulated_judge", faults=file, stdout=StringIO())

    def test_a_taken_port_is_a_clear_error(self, server: SimulatedServer) -> None:
        out = StringIO()
        with pytest.raises(CommandError, match="cannot listen"):
            call_command("simulated_judge", port=server.port, stdout=out)
        assert "no LLM" in out.getvalue()
