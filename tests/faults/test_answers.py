"""Answers that end well and are no verdict, or say odd things about themselves (faults 29, 30 and 33)."""

import json
from typing import Any

import pytest

from judge.domain.errors import ErrorCode
from judge.models import JudgeAttempt, JudgeEvaluation, JudgeModel
from judge.services import deliberation
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.faults.playing import comparisons, judge_all, one_comparison, only_comparison, outcomes

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)

E = ErrorCode


def test_an_answer_cut_at_its_limit_gets_more_tokens_once(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script("length")
    session = judge_all(one_comparison(make_session))
    assert outcomes(session) == [E.LENGTH, "accepted"]
    first, second = server.requests
    assert first.get("max_tokens", 0) < second["max_tokens"] == deliberation.MORE_TOKENS
    assert first["messages"] == second["messages"]


FINAL = [("length", E.LENGTH, 2), ("empty", E.EMPTY, 2)] + [
    (fault, E.REFUSED, 1) for fault in ("content_filter", "refusal", "refusal_text")
]


def test_an_answer_that_will_not_come_fails_after_its_calls(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script(*[fault for fault, _, calls in FINAL for _ in range(calls)])
    session = judge_all(comparisons(make_session, len(FINAL)))
    rows = session.comparisons.order_by("queue_position").values_list("status", "error_code")
    assert list(rows) == [("failed", code) for _, code, _ in FINAL]
    assert outcomes(session) == [code for _, code, calls in FINAL for _ in range(calls)]
    assert server.calls == sum(calls for _, _, calls in FINAL)
    assert not JudgeEvaluation.objects.exists()


def test_an_empty_answer_is_asked_for_again(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script("empty")
    session = judge_all(one_comparison(make_session))
    assert outcomes(session) == [E.EMPTY, "accepted"]
    first, second = server.requests
    assert first["messages"] == second["messages"]


COATS: list[str | dict[str, Any]] = [
    "fenced",
    "prose",
    "think_block",
    {"kind": "think_block", "opening": "", "value": 'Perhaps {"winner": "B"}?'},
    {"kind": "reasoning_field", "value": '{"winner": "TIE"}'},
]


def test_a_verdict_in_whatever_coat_is_taken_at_once(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script(*COATS)
    session = judge_all(comparisons(make_session, len(COATS)))
    assert outcomes(session) == ["accepted"] * server.calls == ["accepted"] * len(COATS)
    for evaluation in JudgeEvaluation.objects.filter(comparison__session=session):
        assert evaluation.verdict["winner"] == evaluation.winner
        assert json.dumps(evaluation.winner) in evaluation.raw_response
        assert evaluation.scores.count() == 6


BAD = ["duplicate_keys", "nan", "bad_score", "bad_winner", "missing_criterion", "prose_only"]


def test_a_bad_answer_is_asked_for_again_and_never_repeated(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script(*[step for fault in BAD for step in (fault, "ok")])
    session = judge_all(comparisons(make_session, len(BAD)))
    codes = [E.INVALID_JSON if fault == "prose_only" else E.INVALID_VERDICT for fault in BAD]
    assert outcomes(session) == [outcome for code in codes for outcome in (code, "accepted")]
    asked = [request["messages"] for request in server.requests]
    refused = JudgeAttempt.objects.filter(number=1).order_by("pk")
    for attempt, first, second in zip(refused, asked[::2], asked[1::2], strict=True):
        assert second[:-1] == first
        assert second[-1]["role"] == "user"
        paths = [problem.rpartition(": ")[0].removeprefix("answer") for problem in attempt.problems]
        assert paths
        assert all(path in second[-1]["content"] for path in paths)
        # Neither as a whole nor in pieces: none of the answer's own sentences comes back.
        assert attempt.raw_response not in json.dumps(second, ensure_ascii=False)
        assert all(sentence not in second[-1]["content"] for sentence in _sentences(attempt.raw_response))


def test_three_different_bad_answers_fail_the_comparison_and_all_are_kept(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.script("nan", "duplicate_keys", "missing_criterion")
    session = judge_all(one_comparison(make_session))
    comparison = only_comparison(session)
    assert (comparison.status, comparison.error_code) == ("failed", E.INVALID_VERDICT)
    assert server.calls == 3
    kept = list(comparison.attempts.order_by("number").values_list("raw_response", flat=True))
    assert "NaN" in kept[0]
    assert kept[1].count('"winner"') == 2
    assert kept[2].startswith("{")
    # Each is asked for again from the beginning, with its own problems only.
    assert [len(request["messages"]) for request in server.requests] == [
        len(server.requests[0]["messages"]) + added for added in (0, 1, 1)
    ]


def test_the_cost_of_unknown_usage_is_unknown(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    JudgeModel.objects.filter(pk=model.pk).update(input_price="2.5", output_price="10")
    server.script("usage_missing", "usage_absurd", {"kind": "usage_absurd", "value": "none"}, "ok")
    session = judge_all(comparisons(make_session, 4))
    known = session.comparisons.order_by("queue_position")
    costs = list(known.values_list("evaluation__prompt_tokens", "evaluation__completion_tokens", "evaluation__cost"))
    assert costs[:3] == [(None, None, None)] * 3
    assert all(costs[3])
    assert JudgeAttempt.objects.filter(outcome="accepted", prompt_tokens=None, completion_tokens=None).count() == 3


def test_another_models_answer_is_stored_and_flagged(make_session: MakeSession, server: SimulatedServer) -> None:
    server.script("other_model")
    comparison = only_comparison(judge_all(one_comparison(make_session)))
    assert comparison.evaluation.model_returned == "another-model"
    assert "other_model" in comparison.flags


def _sentences(document: str) -> list[str]:
    """The longer texts of an answer, as far as it is a document."""
    try:
        fields = json.loads(document)
    except ValueError:
        return [document]
    return [text for text in [*fields["chain_of_thought"].values(), fields["final_justification"]] if len(text) > 10]
