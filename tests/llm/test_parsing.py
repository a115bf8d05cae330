"""The client's pure parts: events, pieces of text, Retry-After."""

import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.domain.errors import ErrorCode
from judge.llm.answers import AnswerCollector
from judge.llm.budget import CallBudget, Limits
from judge.llm.failures import CallFailed, retry_after_seconds
from judge.llm.sse import EventParser, EventTooLarge

DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
MOMENT = 1445412480.0


def parsed(stream: bytes, cuts: list[int]) -> list[tuple[str, bytes]]:
    parser = EventParser(10_000)
    bounds = [0, *sorted(cuts), len(stream)]
    events = [event for low, high in pairwise(bounds) for event in parser.feed(stream[low:high])]
    return events + parser.finish()


STREAM = (
    '\ufeff: hello\r\n\r\ndata: {"a": "ü🙂"}\n\ndata: {"b": 1}\r\n\r\nevent: error\rdata: x\r\rid: 3\n\n'
    'data:one\ndata: two\n\nretry: 5\ndata: {"c": 2}\n\ndata: [DONE]'
).encode()
EVENTS = [
    ("", '{"a": "ü🙂"}'.encode()),
    ("", b'{"b": 1}'),
    ("error", b"x"),
    ("", b"one\ntwo"),
    ("", b'{"c": 2}'),
    ("", b"[DONE]"),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=30))
def test_events_do_not_depend_on_where_the_stream_is_cut(cuts: list[int]) -> None:
    assert parsed(STREAM, cuts) == EVENTS


def test_every_byte_alone() -> None:
    assert parsed(STREAM, list(range(len(STREAM)))) == EVENTS


@pytest.mark.parametrize("piece", [b"x" * 60, b"data: x\n"])
def test_an_endless_event_is_cut(piece: bytes) -> None:
    parser = EventParser(500)
    with pytest.raises(EventTooLarge):
        list(map(parser.feed, [piece] * 1_000))


def test_endless_comments_leave_nothing_behind() -> None:
    parser = EventParser(500)
    for _ in range(1_000):
        assert parser.feed(b": keep-alive\n\n") == []


def collector(pieces: list[str], max_bytes: int = 1_000) -> AnswerCollector:
    return AnswerCollector(CallBudget(Limits(max_bytes=max_bytes), lambda: False), pieces.append, "key")


def delta(**fields: object) -> tuple[str, bytes]:
    return "", json.dumps({"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}).encode()


def test_a_character_escaped_in_two_events_is_joined() -> None:
    pieces: list[str] = []
    taking = collector(pieces)
    for part in ("a\ud83d", "\ude42b", "\ud83d", "c"):
        taking.take_event(delta(content=part))
    assert taking.text == "a🙂b\ud83dc"
    assert "".join(pieces) == taking.text


def test_any_text_survives_any_cut() -> None:
    text = "".join(random.Random(3).choices('aä🙂\n"\\', k=300))
    pieces: list[str] = []
    taking = collector(pieces, 10_000)
    raw = text.encode("utf-16-le")
    for at in range(0, len(raw), 2):
        taking.take_event(delta(content=raw[at : at + 2].decode("utf-16-le", "surrogatepass")))
    assert taking.text == text


def test_content_in_typed_parts() -> None:
    taking = collector([])
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    taking.take_event(delta(content=[thinking, {"type": "text", "text": "yes"}]))
    assert (taking.text, taking.reasoning_text) == ("yes", "hm")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "hm"},
        {"type": "thinking", "text": "hm"},
        {"type": "reasoning", "reasoning": "hm"},
        {"type": "reasoning", "text": "hm"},
        {"type": "thinking", "thinking": [{"type": "text", "text": "h"}, 3, {"type": "text", "text": "m"}]},
    ],
)
def test_a_part_of_reasoning_is_never_answer_text(part: dict[str, object]) -> None:
    pieces: list[str] = []
    taking = collector(pieces)
    taking.take_event(delta(content=[part, {"type": "text", "text": "yes"}]))
    assert (taking.text, taking.reasoning_text, pieces) == ("yes", "hm", ["yes"])


def test_reasoning_counts_towards_the_cap() -> None:
    taking = collector([])
    with pytest.raises(CallFailed) as caught:
        list(map(taking.take_event, [delta(reasoning="ä" * 10)] * 200))
    assert caught.value.code is ErrorCode.TOO_LARGE
    assert len(taking.reasoning_text) == 500


def test_bytes_that_are_not_utf8_are_refused_not_replaced() -> None:
    with pytest.raises(CallFailed) as caught:
        collector([]).take_event(("", b'{"choices": [{"delta": {"content": "\xff"}}]}'))
    assert caught.value.code is ErrorCode.PROTOCOL_ERROR


def test_other_choices_are_not_mixed_in() -> None:
    taking = collector([])
    taking.take_event(("", b'{"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "stop"}]}'))
    assert (taking.text, taking.is_complete) == ("", False)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "1e30"}, 86_400.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "in a minute"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250", "retry-after": "60"}, 0.25),
        ({"retry-after-ms": "x", "retry-after": "60"}, 60.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:27:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 09:28:30 GMT", "date": "Wed, 21 Oct 2015 09:28:00 GMT"}, 30.0),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, now=MOMENT) == seconds
