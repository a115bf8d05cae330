"""What watchers see of an answer that begins with reasoning, however the stream cuts it."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.llm.thinking import WatchedText

ANSWER = '{"winner": "A", "final_justification": "It holds </think> and <think>."}'
REASONED = "\ufeff\n <think>a < b, {draft} </thin </THINK\n</Think> \n[THINK]İx[/THINK]\n" + ANSWER


def seen(pieces: list[str]) -> str:
    shown: list[str] = []
    watched = WatchedText(shown.append)
    for piece in pieces:
        watched.add(piece)
    return "".join(shown)


@given(st.lists(st.integers(0, len(REASONED)), max_size=40))
def test_only_the_answer_is_seen_wherever_the_stream_is_cut(cuts: list[int]) -> None:
    bounds = [0, *sorted(cuts), len(REASONED)]
    assert seen([REASONED[low:high] for low, high in pairwise(bounds)]) == ANSWER


def test_every_character_alone() -> None:
    assert seen(list(REASONED)) == ANSWER


@pytest.mark.parametrize(
    "text", [ANSWER, "<b>no reasoning</b>", "<thin ice", "[1, 2]", "thought</think>", "a <think> b"]
)
def test_what_is_no_reasoning_is_seen_from_its_first_character(text: str) -> None:
    assert seen(list(text)) == text


@pytest.mark.parametrize("text", ["", "<think>", "<think>never closed {", " \n", "<reasoning>x</think>"])
def test_nothing_is_seen_before_the_answer(text: str) -> None:
    assert seen(list(text)) == ""


def test_long_reasoning_costs_no_more_than_its_length() -> None:
    began = time.process_time()
    assert seen(["<think>", *["a thought of it "] * 40_000, " \n" * 40_000]) == ""
    assert time.process_time() - began < 3
