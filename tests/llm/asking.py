"""A prompt, an endpoint and one call, as the client's tests need them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.prompt import DEFAULT_PROMPTS, render_prompt
from judge.domain.rubric import DEFAULT_CRITERIA, Rubric
from judge.domain.verdict import json_schema
from judge.llm.client import Answer, CallFailed, Limits, stream_chat
from judge.llm.endpoint import Endpoint
from judge.simulated.server import SimulatedServer

RUBRIC = Rubric("default", DEFAULT_CRITERIA["de"])
KEY = "sk-test-5up3rs3cr3t"
THREAD_A = "[Ratsuchende Person]\nIch weiß nicht weiter.\n\n[Beratende Person]\nErzählen Sie mir mehr davon."
THREAD_B = "[Ratsuchende Person]\nAlles ist zu viel.\n\n[Beratende Person]\nKopf hoch!"
# No call of the tests ends by its limits unless it should.
PATIENT = Limits(connect=10, first_token=30, silence=30, total=120)


def prompt_messages(
    thread_a: str = THREAD_A, thread_b: str = THREAD_B, nonce: str = "n0nce-1234"
) -> list[dict[str, Any]]:
    """What would be sent for two rendered threads."""
    return [*render_prompt(DEFAULT_PROMPTS["de"], RUBRIC, thread_a, thread_b, "de", nonce).messages()]


def endpoint_of(server: SimulatedServer, **changes: Any) -> Endpoint:
    """The endpoint of a simulated server, on the operator's allowlist."""
    endpoint = Endpoint(None, server.base_url, KEY, "simulated-judge", local_hosts=("127.0.0.1",))
    return replace(endpoint, **changes)


def ask(
    endpoint: Endpoint,
    limits: Limits = PATIENT,
    max_tokens: int | None = None,
    on_text: Callable[[str], None] = lambda piece: None,
    stop: Callable[[], bool] = lambda: False,
) -> Answer:
    """One call with the usual prompt."""
    return stream_chat(endpoint, prompt_messages(), json_schema(RUBRIC), limits, max_tokens, on_text, stop)


def failure(endpoint: Endpoint, **options: Any) -> CallFailed:
    """The failure of one call, checked to hold neither thread text nor key."""
    with pytest.raises(CallFailed) as caught:
        ask(endpoint, **options)
    shown = f"{caught.value!r} {caught.value} {caught.value.message}"
    assert KEY not in shown
    assert "weiß" not in shown
    assert caught.value.latency_ms is not None
    return caught.value


def code(endpoint: Endpoint, **options: Any) -> ErrorCode:
    """Only the code of one call's failure."""
    return failure(endpoint, **options).code
