"""Answers that are not the protocol, break off, or are too much (faults 27, 28, 31 and 32)."""

import json
from itertools import groupby
from typing import Any

import pytest

from judge import events
from judge.domain.errors import ErrorCode
from judge.models import JudgeAttempt, JudgeEvaluation, JudgeModel
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.conftest import MakeSession
from tests.faults.playing import comparisons, judge_all, limit, one_comparison, only_comparison, outcomes

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

E = ErrorCode


NO_ANSWERS: list[tuple[str | dict[str, Any], ErrorCode]] = [
    ("html_200", E.PROTOCOL_ERROR),
    ("error_in_stream", E.PROTOCOL_ERROR),
    ("malformed_events", E.PROTOCOL_ERROR),
    ({"kind": "malformed_events", "data": "data: [1]\n\n"}, E.PROTOCOL_ERROR),
    ("half_stream", E.TRUNCATED),
    ("no_finish_reason", E.TRUNCATED),
    ("too_many_bytes", E.TOO_LARGE),
    ("endless_newlines", E.TOO_LARGE),
    ("reset", E.STREAM_RESET),
]


def test_what_is_no_answer_has_its_code_and_is_asked_for_again(
    make_session: MakeSession, server: SimulatedServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.script(*[step for fault, _ in NO_ANSWERS for step in (fault, "ok")])
    session = judge_all(comparisons(make_session, len(NO_ANSWERS)))
    assert session.completed_comparisons == len(NO_ANSWERS)
    assert outcomes(session) == [outcome for _, code in NO_ANSWERS for outcome in (code, "accepted")]
    assert server.calls == 2 * len(NO_ANSWERS)
    assert "Traceback" not in caplog.text
    assert "lane_failed" not in caplog.text
    assert all(len(raw) <= 1_000_000 for raw in JudgeAttempt.objects.values_list("raw_response", flat=True))


def test_an_answer_without_a_finish_reason_is_truncated_although_its_json_is_whole(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.script(rules=[{"kind": "no_finish_reason", "done": True}])
    session = judge_all(one_comparison(make_session))
    comparison = only_comparison(session)
    assert (comparison.status, comparison.error_code) == ("failed", E.TRUNCATED)
    assert outcomes(session) == [E.TRUNCATED] * server.calls == [E.TRUNCATED] * 6
    assert "winner" in json.loads(JudgeAttempt.objects.get(number=1).raw_response)
    assert not JudgeEvaluation.objects.exists()


def test_a_provider_that_is_flagged_may_omit_the_finish_reason(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, may_omit_finish_reason=True)
    server.script({"kind": "no_finish_reason", "done": True})
    session = judge_all(one_comparison(make_session))
    assert (outcomes(session), server.calls) == (["accepted"], 1)
    assert only_comparison(session).evaluation.finish_reason == ""


def test_watchers_of_an_answer_that_breaks_off_see_it_begin_anew(
    make_session: MakeSession, server: SimulatedServer, heard: list[events.Event]
) -> None:
    server.judge.settings = SimulatedSettings(latency_ms=400, chunks=20)
    server.script("reset")
    session = judge_all(one_comparison(make_session))
    assert outcomes(session) == [E.STREAM_RESET, "accepted"]
    told = [event for event in heard if isinstance(event, events.LLMStream | events.ComparisonFailed)]
    kinds = [kind for kind, _ in groupby(type(event) for event in told)]
    assert kinds == [events.LLMStream, events.ComparisonFailed, events.LLMStream]
    failed = next(event for event in told if isinstance(event, events.ComparisonFailed))
    assert (failed.error_code, failed.will_retry) == (E.STREAM_RESET, True)
    pieces = [event for event in told[told.index(failed) :] if isinstance(event, events.LLMStream)]
    assert pieces[0].offset == 0
    assert told[0].offset == 0  # type: ignore[union-attr]
    assert "".join(piece.token for piece in pieces) == only_comparison(session).evaluation.raw_response


@pytest.mark.queue
@pytest.mark.parametrize("fault", ["split_utf8", "bom"])
def test_odd_bytes_are_stored_as_they_were_meant(
    make_session: MakeSession, server: SimulatedServer, heard: list[events.Event], fault: str
) -> None:
    server.script(fault)
    session = judge_all(one_comparison(make_session))
    evaluation = only_comparison(session).evaluation
    assert (outcomes(session), server.calls) == (["accepted"], 1)
    assert evaluation.raw_response.startswith("\ufeff") is (fault == "bom")
    assert json.loads(evaluation.raw_response.removeprefix("\ufeff")) == evaluation.verdict
    shown = "".join(event.token for event in heard if isinstance(event, events.LLMStream))
    assert shown == evaluation.raw_response.removeprefix("\ufeff")
    assert any(letter in shown for letter in "äöüß")


@pytest.mark.queue
@pytest.mark.parametrize(
    ("fault", "code", "kept"),
    [("nul", E.INVALID_VERDICT, "\\u0000"), ("lone_surrogate", E.INVALID_JSON, "\\ud83d")],
)
def test_what_no_database_stores_is_refused_with_its_raw_text_escaped(
    make_session: MakeSession,
    server: SimulatedServer,
    heard: list[events.Event],
    fault: str,
    code: ErrorCode,
    kept: str,
) -> None:
    server.script(fault)
    session = judge_all(one_comparison(make_session))
    assert (outcomes(session), server.calls) == ([code, "accepted"], 2)
    assert kept in JudgeAttempt.objects.get(number=1).raw_response
    assert any(isinstance(event, events.ComparisonCompleted) for event in heard)
