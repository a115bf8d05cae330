"""Pieces of an answer are received together while it is far from its end, and as they come near its end."""

from collections.abc import Iterator

import pytest

from judge.domain.verdict import json_schema, last_words
from judge.llm.answers import AnswerCollector
from judge.llm.budget import CallBudget, Limits
from judge.llm.client import stream_chat
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.llm.asking import PATIENT, RUBRIC, endpoint_of, prompt_messages


@pytest.fixture
def receives(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The size of each receive from the network."""
    sizes: list[int] = []
    count = CallBudget.received

    def received(budget: CallBudget, size: int) -> None:
        sizes.append(size)
        count(budget, size)

    monkeypatch.setattr(CallBudget, "received", received)
    return sizes


@pytest.fixture
def slow_server(server: SimulatedServer) -> Iterator[SimulatedServer]:
    """Forty pieces over four tenths of a second."""
    before, server.judge.settings = server.judge.settings, SimulatedSettings(latency_ms=400, chunks=40)
    yield server
    server.judge.settings = before


def pieces_of(server: SimulatedServer, ending: str) -> list[str]:
    pieces: list[str] = []
    endpoint, schema = endpoint_of(server), json_schema(RUBRIC)
    stream_chat(endpoint, prompt_messages(), schema, PATIENT, None, pieces.append, lambda: False, ending)
    return pieces


def test_an_answer_is_the_same_in_far_fewer_receives(slow_server: SimulatedServer, receives: list[int]) -> None:
    each = pieces_of(slow_server, "")
    alone = len(receives)
    receives.clear()
    together = pieces_of(slow_server, last_words(RUBRIC))
    assert each == together
    assert len(receives) < 0.75 * alone


def watched(ending: str) -> tuple[CallBudget, AnswerCollector]:
    budget = CallBudget(Limits(), lambda: False)
    return budget, AnswerCollector(budget, lambda piece: None, "", ending)


def take(collector: AnswerCollector, text: str) -> None:
    collector.take_event(("", b'{"choices": [{"delta": {"content": "%s"}}]}' % text.encode()))


def test_text_gathers_only_until_the_last_words_however_they_are_cut() -> None:
    budget, collector = watched("'empathy'")
    budget.received(10)
    assert budget.seconds_to_gather() == 0
    take(collector, "first words")
    budget.received(10)
    assert budget.seconds_to_gather() > 0
    take(collector, " 'emp")
    assert budget.seconds_to_gather() > 0
    take(collector, "athy': 4")
    assert budget.seconds_to_gather() == 0
    take(collector, "more")
    assert budget.seconds_to_gather() == 0


def test_without_last_words_nothing_gathers() -> None:
    budget, collector = watched("")
    take(collector, "some words")
    budget.received(10)
    assert budget.seconds_to_gather() == 0


def test_a_finished_answer_is_not_kept_waiting() -> None:
    budget, collector = watched("'empathy'")
    take(collector, "another shape")
    budget.received(10)
    assert budget.seconds_to_gather() > 0
    collector.take_event(("", b'{"choices": [{"delta": {}, "finish_reason": "stop"}]}'))
    assert budget.seconds_to_gather() == 0
