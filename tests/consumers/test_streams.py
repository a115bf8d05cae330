"""Which piece of an answer a page still needs, and which parts of it are out of date."""

from typing import Any

from judge.consumers.pages import PageState
from judge.consumers.streams import Shown, Streams

EVERYTHING = {"state", "actions", "progress", "queue", "history", "0", "1"}


def piece(offset: int, token: str, **changes: Any) -> dict[str, Any]:
    event = {"type": "judge:llm_stream", "worker_id": 0, "comparison_id": 7, "claim_token": "x"}
    return {**event, "offset": offset, "token": token, **changes}


def streams(length: int) -> Streams:
    made = Streams()
    made.drawn(0, Shown(7, "x", length))
    return made


def test_pieces_in_order_are_appended() -> None:
    made = streams(0)
    assert [made.new_text(piece(0, "abc")), made.new_text(piece(3, "de"))] == ["abc", "de"]


def test_what_the_drawing_holds_already_is_not_appended_again() -> None:
    made = streams(5)
    assert made.new_text(piece(3, "de")) == ""
    assert made.new_text(piece(4, "efg")) == "fg"
    assert made.new_text(piece(7, "h")) == "h"


def test_a_missing_piece_asks_for_a_drawing() -> None:
    assert streams(2).new_text(piece(3, "d")) is None


def test_an_answer_that_begins_anew_asks_for_a_drawing() -> None:
    assert streams(2).new_text(piece(0, "a")) is None


def test_another_attempt_asks_for_a_drawing_once() -> None:
    made = streams(2)
    late = piece(2, "c", claim_token="older")
    assert made.new_text(late) is None
    made.drawn(0, Shown(7, "x", 2))
    assert made.new_text(late) == ""
    made.started(0)
    assert made.new_text(late) is None


def page(**changes: Any) -> PageState:
    return PageState(**{"worker_count": 2, "status": "running", "has_results": True, **changes})


def progress(seq: int, status: str = "running", completed: int = 1) -> dict[str, Any]:
    return {"seq": seq, "type": "judge:progress", "status": status, "completed": completed, "failed": 0, "total": 9}


async def test_a_skipped_number_a_repeated_one_and_a_gap_are_noticed() -> None:
    for second in (progress(12), progress(10), {"type": "gap"}):
        state = page()
        assert state.take_all([progress(10)])
        assert not state.take_all([second])


async def test_the_count_goes_on_behind_a_gap() -> None:
    old = page()
    assert not old.take_all([progress(10), progress(15)])
    new = page()
    new.follow_on(old)
    assert new.take_all([progress(16)])


async def test_pieces_of_one_batch_are_told_together_and_once() -> None:
    state = page()
    state.drawn({0: Shown(7, "x", 0)})
    assert state.take_all([{"seq": 1, **piece(0, "ab")}, {"seq": 2, **piece(2, "cd")}])
    assert state.pieces() == {0: "abcd"}
    assert state.pieces() == {}
    assert state.due() == []


async def test_a_claim_redraws_its_lane_and_swallows_its_pieces() -> None:
    state = page()
    state.drawn({0: Shown(7, "x", 0)})
    start = {"seq": 2, "type": "judge:comparison_start", "worker_id": 0, "comparison_id": 8}
    assert state.take_all([{"seq": 1, **piece(0, "ab")}, start, {"seq": 3, **piece(0, "cd", comparison_id=8)}])
    assert state.pieces() == {}
    assert set(state.due()) == {"state", "0", "queue"}


async def test_parts_are_not_drawn_more_often_than_they_may() -> None:
    state = page()
    done = {"type": "judge:comparison_complete", "worker_id": 0, "comparison_id": 7, "winner": "A", "confidence": 0.9}
    state.take_all([{"seq": 1, **done}])
    assert set(state.due()) == {"state", "0", "history", "progress"}
    state.take_all([{"seq": 2, **done}])
    assert state.due() == []
    assert state.next_due() is not None


async def test_a_changed_status_redraws_everything_at_once() -> None:
    state = page()
    state.take_all([progress(1)])
    state.due()
    state.take_all([progress(2, "paused")])
    assert set(state.due()) == EVERYTHING


async def test_the_first_verdict_brings_the_way_to_the_results() -> None:
    state = page(has_results=False)
    state.take_all([progress(1, completed=0)])
    assert "actions" not in state.due()
    state.take_all([progress(2, completed=1)])
    assert "actions" in state.due()
