"""Storing a verdict: evaluation, scores, status and counters in one transaction, guarded by the claim's token."""

import json
from decimal import Decimal
from functools import partial
from typing import Any

from django.db import connection

from judge import events
from judge.domain.states import ComparisonStatus
from judge.domain.verdict import Verdict
from judge.llm.client import Answer
from judge.models import CriterionScore, JudgeAttempt, JudgeEvaluation
from judge.services.attempts import close_answered, storable
from judge.services.briefs import Brief
from judge.services.cases import Case
from judge.services.claiming import Claim
from judge.services.queue import finish, let_go, logged
from judge.services.tally import settle
from judge.services.transactions import in_one_statement
from judge.services.verdict_rows import store_rows

MILLION = Decimal(1_000_000)


def complete(claimed: Claim, case: Case, verdict: Verdict, answer: Answer, attempt: JudgeAttempt) -> bool:
    """Store a verdict. Returns False, and writes no verdict, when the claim was lost meanwhile."""
    completed = events.ComparisonCompleted(
        session_id=claimed.session_id,
        worker_id=claimed.worker_id,
        comparison_id=claimed.comparison_id,
        winner=verdict.winner,
        confidence=verdict.confidence,
    )
    flags = _flags(case, answer, verdict)
    if connection.vendor == "postgresql":
        return _complete_at_once(claimed, case, verdict, answer, attempt, flags, completed)

    def write() -> None:
        evaluation = _store(claimed, case, verdict, answer, attempt.prompt_hash)
        _store_scores(evaluation, case, verdict)
        close_answered(attempt, answer, JudgeAttempt.ACCEPTED)

    return finish(claimed, ComparisonStatus.COMPLETED, completed, write=write, flags=flags)


def _complete_at_once(
    claimed: Claim,
    case: Case,
    verdict: Verdict,
    answer: Answer,
    attempt: JudgeAttempt,
    flags: list[str],
    completed: events.Event,
) -> bool:
    values = {**_call_values(case, answer, attempt.prompt_hash), "http_status": answer.http_status}
    values["flags"] = json.dumps(flags)

    tally = in_one_statement(partial(store_rows, claimed, verdict, case.brief.criterion_ids, attempt.pk, values))
    if tally is None:
        let_go(claimed)  # an aborted session's comparison still stands in its lane
        return logged(claimed, still_held=False)
    events.publish_soon(completed, tally.event())
    if tally.is_finished:
        settle(claimed.session_id)
    return True


def _call_values(case: Case, answer: Answer, prompt_hash: str) -> dict[str, Any]:
    """What the call brought, by column of the evaluation."""
    return {
        "raw_response": storable(answer.text),
        "model_returned": (answer.model_returned or "")[:200],
        "prompt_hash": prompt_hash,
        "finish_reason": (answer.finish_reason or "")[:40],
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": answer.completion_tokens,
        "cost": cost_of(case.brief, answer),
        "latency_ms": answer.latency_ms,
        "first_token_ms": answer.first_token_ms,
    }


def _store(claimed: Claim, case: Case, verdict: Verdict, answer: Answer, prompt_hash: str) -> JudgeEvaluation:
    return JudgeEvaluation.objects.create(
        comparison_id=claimed.comparison_id,
        winner=verdict.winner,
        confidence=verdict.confidence,
        reasoning=verdict.reasoning,
        chain_of_thought=verdict.chain_of_thought,
        verdict=verdict.document,
        **_call_values(case, answer, prompt_hash),
    )


def _store_scores(evaluation: JudgeEvaluation, case: Case, verdict: Verdict) -> None:
    CriterionScore.objects.bulk_create(
        CriterionScore(
            evaluation=evaluation,
            criterion_id=case.brief.criterion_ids[score.key],
            score_a=score.score_a,
            score_b=score.score_b,
            reasoning=score.reasoning,
        )
        for score in verdict.scores
    )


def _flags(case: Case, answer: Answer, verdict: Verdict) -> list[str]:
    """What a reader of this verdict should know: suspicious texts, another model, scores that contradict the winner."""
    flags = list(case.flags)
    if answer.model_returned and answer.model_returned != case.brief.endpoint.model_name:
        flags.append("other_model")
    weights = {criterion.key: criterion.weight for criterion in case.brief.rubric.criteria}
    lead = sum(weights[score.key] * (score.score_a - score.score_b) for score in verdict.scores)
    if (verdict.winner == "A" and lead < 0) or (verdict.winner == "B" and lead > 0):
        flags.append("scores_contradict_winner")
    return flags


def cost_of(brief: Brief, answer: Answer) -> Decimal | None:
    """Cost of one answer in the currency of the model's prices; None where tokens or prices are unknown."""
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        return None
    if brief.input_price is None or brief.output_price is None:
        return None
    return (answer.prompt_tokens * brief.input_price + answer.completion_tokens * brief.output_price) / MILLION
