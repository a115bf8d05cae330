"""What a test found is what the lanes do: the mode, the schema in the prompt, the name of the limit."""

import json

import pytest

from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgeEvaluation, JudgeModel, JudgeSession
from judge.services.lanes import run_lane
from judge.services.provider_check import request_check, run_check
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.provider_check.conftest import Sent

pytestmark = [
    pytest.mark.queue,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.usefixtures("sent"),
]


def judge_all(session: JudgeSession) -> JudgeSession:
    while run_lane(session.pk, 0):
        pass
    session.refresh_from_db()
    return session


@pytest.mark.parametrize(
    ("formats", "wanted", "is_told"),
    [({"json_schema"}, "json_schema", False), ({"json_object"}, "json_object", True), (set(), None, True)],
)
def test_the_mode_that_was_found_is_used_and_the_prompt_holds_the_schema_where_nothing_else_does(
    make_session: MakeSession,
    model: JudgeModel,
    server: SimulatedServer,
    formats: set[str],
    wanted: str | None,
    is_told: bool,
) -> None:
    server.play(formats=frozenset(formats))
    run_check(request_check(model.provider_id, model.model_name).pk)
    tested = server.calls
    session = judge_all(make_session(threads=1))
    assert (session.status, session.failed_comparisons) == (SessionStatus.COMPLETED, 0)
    sent = server.requests[tested:]
    assert len(sent) == session.total_comparisons
    for request in sent:
        assert request.get("response_format", {}).get("type") == wanted
        system = request["messages"][0]["content"]
        assert ('"additionalProperties": false' in system) is is_told


def test_a_limit_that_is_raised_goes_under_the_name_that_the_model_takes(
    make_session: MakeSession, model: JudgeModel, server: SimulatedServer
) -> None:
    server.play(refuses=frozenset({"max_tokens"}))
    run_check(request_check(model.provider_id, model.model_name).pk)
    session = make_session(threads=1, position_swap=False)
    server.script("length")
    judge_all(session)
    last = server.requests[-1]
    assert JudgeComparison.objects.get(session=session).status == "completed"
    assert last["max_completion_tokens"] > 1_000
    assert "max_tokens" not in last


def test_a_provider_that_omits_the_finish_reason_is_believed_once_it_is_marked(
    make_session: MakeSession, model: JudgeModel, server: SimulatedServer, sent: Sent
) -> None:
    server.script(rules=[{"kind": "no_finish_reason", "done": True}])
    check = request_check(model.provider_id, model.model_name)
    run_check(check.pk)
    check.refresh_from_db()
    assert check.findings["suggests_may_omit_finish_reason"] is True
    model.provider.may_omit_finish_reason = True
    model.provider.save()
    session = judge_all(make_session(threads=1))
    assert (session.status, session.failed_comparisons) == (SessionStatus.COMPLETED, 0)
    assert set(JudgeEvaluation.objects.values_list("finish_reason", flat=True)) == {""}


def test_a_verdict_is_taken_from_the_answer_and_its_reasoning_is_kept_in_the_raw_text(
    make_session: MakeSession, model: JudgeModel, server: SimulatedServer
) -> None:
    draft = '{"winner": "TIE"}, no'
    server.script(rules=[{"kind": "think_block", "value": draft}])
    session = judge_all(make_session(threads=1))
    assert session.failed_comparisons == 0
    for evaluation in JudgeEvaluation.objects.filter(comparison__session=session):
        assert evaluation.raw_response.startswith(f"<think>{draft}</think>")
        assert json.loads(evaluation.raw_response.partition("</think>")[2]) == evaluation.verdict
