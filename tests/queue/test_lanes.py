"""A lane from claim to verdict, with the simulated judge over real HTTP."""

import json
from typing import Any

import pytest

from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import (
    JudgeAttempt,
    JudgeComparison,
    JudgeEvaluation,
    JudgeModel,
    JudgeSession,
    ThreadEloScore,
)
from judge.selectors.progress import status_counts
from judge.selectors.results import session_results
from judge.services import control, deliberation, leases, queue
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import run_lane
from judge.services.results import rebuild_results, refresh_results
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def judge_all(session: JudgeSession) -> JudgeSession:
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    session.refresh_from_db()
    return session


def elo_table(session: JudgeSession) -> list[tuple[Any, ...]]:
    columns = ("thread_id", "elo_score", "elo_low", "elo_high", "wins", "losses", "ties", "avg_confidence", "bt_score")
    return list(ThreadEloScore.objects.filter(session=session).order_by("thread_id").values_list(*columns))


def test_a_verdict_is_stored_with_everything_that_led_to_it(make_session: MakeSession, server: SimulatedServer) -> None:
    session = make_session()
    assert run_lane(session.pk, 0) is True
    comparison = JudgeComparison.objects.get(session=session, status="completed")
    evaluation = comparison.evaluation
    assert json.loads(evaluation.raw_response) == evaluation.verdict
    assert evaluation.verdict["winner"] == evaluation.winner
    assert {score.criterion.key: (score.score_a, score.score_b) for score in evaluation.scores.all()} == {
        key: (row["score_a"], row["score_b"]) for key, row in evaluation.verdict["criteria_scores"].items()
    }
    assert evaluation.scores.count() == 6
    assert evaluation.model_returned == "simulated-judge"
    assert evaluation.finish_reason == "stop"
    assert evaluation.prompt_tokens and evaluation.completion_tokens  # noqa: PT018
    assert evaluation.cost is None
    attempt = comparison.attempts.get()
    assert (attempt.outcome, attempt.prompt_hash) == (JudgeAttempt.ACCEPTED, evaluation.prompt_hash)
    assert server.calls == 1


def test_the_cost_is_known_when_tokens_and_prices_are(make_session: MakeSession, model: JudgeModel) -> None:
    JudgeModel.objects.filter(pk=model.pk).update(input_price="2.5", output_price="10")
    session = make_session()
    run_lane(session.pk, 0)
    evaluation = JudgeEvaluation.objects.get()
    expected = (evaluation.prompt_tokens * 2.5 + evaluation.completion_tokens * 10) / 1e6  # type: ignore[operator]
    assert float(evaluation.cost) == pytest.approx(expected)  # type: ignore[arg-type]


def test_the_session_completes_and_its_results_are_stored(make_session: MakeSession, server: SimulatedServer) -> None:
    session = judge_all(make_session())
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 8)
    assert server.calls == 8
    results = session_results(session)
    assert results is not None
    assert (results.evaluations_seen, results.pairs_complete, results.pairs_total) == (8, 4, 4)
    assert not results.is_partial
    assert sum(row["wins"] for row in results.leaderboard) == sum(row["losses"] for row in results.leaderboard)


def test_one_worker_and_five_give_the_same_table_to_the_last_digit(make_session: MakeSession) -> None:
    one = judge_all(make_session(threads=6, repetitions_per_pair=2, worker_count=1))
    five = judge_all(make_session(threads=6, repetitions_per_pair=2, worker_count=5))
    assert elo_table(one) == elo_table(five)
    assert len(elo_table(one)) == 12


def test_rebuilding_gives_the_same_numbers(make_session: MakeSession) -> None:
    session = judge_all(make_session())
    before = elo_table(session), session_results(session)
    rebuild_results(session.pk)
    assert (elo_table(session), session_results(session)) == before


def test_an_older_refresh_never_overwrites_a_newer_one(make_session: MakeSession) -> None:
    session = judge_all(make_session())
    results = session_results(session)
    JudgeEvaluation.objects.filter(comparison__session=session, comparison__queue_position=0).delete()
    JudgeComparison.objects.filter(session=session, queue_position=0).update(status="pending", completed_at=None)
    refresh_results(session.pk)
    assert session_results(session) == results


def test_a_refused_key_pauses_the_session_and_burns_no_attempt(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.script(rules=[{"kind": "status", "status": 401}])
    session = judge_all(make_session(worker_count=1))
    assert (session.status, session.status_reason) == (SessionStatus.PAUSED, ErrorCode.UNAUTHORIZED)
    assert server.calls == 1
    assert status_counts(session) == {"pending": 8, "running": 0, "completed": 0, "failed": 0}
    server.reset()
    control.resume(session.pk)
    assert judge_all(session).status == SessionStatus.COMPLETED


def test_a_worker_that_is_to_end_gives_its_comparison_back(make_session: MakeSession, server: SimulatedServer) -> None:
    session = make_session()
    claimed = queue.claim(session.pk, 0)
    assert claimed is not None
    queue.release(claimed)
    leases.STOPPING.set()
    assert run_lane(session.pk, 0) is False
    assert server.calls == 0


def test_the_same_seed_gives_the_same_plan(make_session: MakeSession) -> None:
    def plan(session: JudgeSession) -> list[tuple[Any, ...]]:
        columns = ("queue_position", "pair__thread_a", "pair__thread_b", "pair__repetition", "position_order")
        return list(JudgeComparison.objects.filter(session=session).order_by("queue_position").values_list(*columns))

    first = make_session(threads=6, repetitions_per_pair=3, samples_per_pillar=4, seed=11)
    second = make_session(threads=6, repetitions_per_pair=3, samples_per_pillar=4, seed=11)
    other = make_session(threads=6, repetitions_per_pair=3, samples_per_pillar=4, seed=12)
    assert plan(first) == plan(second)
    assert plan(first) != plan(other)


def test_a_provider_that_wants_a_long_rest_gets_it_and_the_session_waits(
    make_session: MakeSession, server: SimulatedServer
) -> None:
    server.script({"kind": "status", "status": 429, "retry_after": "3600"})
    session = make_session()
    run_lane(session.pk, 0)
    assert queue.claim(session.pk, 1) is None
    session.refresh_from_db()
    assert (session.status, session.status_reason) == (SessionStatus.RUNNING, "")
    assert status_counts(session)["pending"] == session.total_comparisons
    assert server.calls == 1


def test_a_thread_that_never_lost_is_marked_in_the_table(make_session: MakeSession) -> None:
    session = judge_all(make_session())
    marked = {row.thread_id: row.bt_flag for row in ThreadEloScore.objects.filter(session=session)}
    assert any(marked.values())  # each thread met one other here
    results = session_results(session)
    assert results is not None
    assert {row["thread_id"]: row["bt_flag"] or "" for row in results.leaderboard} == marked


def test_a_verdict_whose_commit_is_repeated_stays_accepted(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection broke after the commit: the repeated transaction finds the comparison taken care of."""
    stored = deliberation.complete

    def twice(*arguments: Any) -> bool:
        assert stored(*arguments) is True
        return stored(*arguments)

    monkeypatch.setattr(deliberation, "complete", twice)
    run_lane(make_session(threads=1, position_swap=False).pk, 0)
    assert JudgeAttempt.objects.get().outcome == JudgeAttempt.ACCEPTED
    assert JudgeEvaluation.objects.count() == 1
