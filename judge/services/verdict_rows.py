"""A verdict's rows in ONE statement of PostgreSQL: status, session's counters, evaluation, scores, record of the call.

By hand, because six statements of the ORM cost four times as much processor time, and a round trip each while other
lanes wait for the session's row. What it does, in this order, since each part reads from the one before:

- held: the comparison, locked if the claim's token still stands in it.
- counted: the session's counters, only if the comparison is held and the session was not aborted. No row: nothing is
  written at all, and the answer is thrown away.
- the comparison's new status, the evaluation, its scores, and the end of the call's record.
"""

import json
from functools import cache
from typing import Any

from django.db import connection

from judge.domain.verdict import Verdict
from judge.models import CriterionScore, JudgeAttempt, JudgeComparison, JudgeEvaluation, JudgeSession
from judge.services.claiming import Claim
from judge.services.tally import Tally

_STORE = """
WITH held AS MATERIALIZED (
    SELECT id FROM {comparisons} WHERE id = %(comparison)s AND status = 'running' AND claim_token = %(token)s FOR UPDATE
), counted AS (
    UPDATE {sessions} SET completed_comparisons = completed_comparisons + 1
    WHERE id = %(session)s AND status <> 'aborted' AND EXISTS (SELECT 1 FROM held)
    RETURNING id, status, status_reason, total_comparisons, completed_comparisons, failed_comparisons
), done AS (
    UPDATE {comparisons} SET status = 'completed', completed_at = STATEMENT_TIMESTAMP(), flags = %(flags)s,
        claim_token = NULL, lease_expires_at = NULL, provider_id = NULL, provider_slot = NULL
    WHERE id = %(comparison)s AND EXISTS (SELECT 1 FROM counted)
), evaluation AS (
    INSERT INTO {evaluations} (comparison_id, winner, confidence, reasoning, chain_of_thought, verdict, raw_response,
        model_returned, prompt_hash, finish_reason, prompt_tokens, completion_tokens, cost, latency_ms, first_token_ms,
        created_at)
    SELECT %(comparison)s, %(winner)s, %(confidence)s, %(reasoning)s, %(chain_of_thought)s::jsonb, %(verdict)s::jsonb,
        %(raw_response)s, %(model_returned)s, %(prompt_hash)s, %(finish_reason)s, %(prompt_tokens)s,
        %(completion_tokens)s, %(cost)s::numeric, %(latency_ms)s, %(first_token_ms)s, STATEMENT_TIMESTAMP()
    FROM counted RETURNING id
), attempt AS (
    UPDATE {attempts} SET outcome = 'accepted', ended_at = STATEMENT_TIMESTAMP(), raw_response = %(raw_response)s,
        http_status = %(http_status)s, finish_reason = %(finish_reason)s, model_returned = %(model_returned)s,
        prompt_tokens = %(prompt_tokens)s, completion_tokens = %(completion_tokens)s, latency_ms = %(latency_ms)s,
        first_token_ms = %(first_token_ms)s
    WHERE id = %(attempt)s AND outcome = 'started' AND EXISTS (SELECT 1 FROM counted)
), scored AS (
    INSERT INTO {scores} (evaluation_id, criterion_id, score_a, score_b, reasoning)
    SELECT evaluation.id, score.criterion, score.a, score.b, score.reasoning
    FROM evaluation, UNNEST(%(criteria)s::bigint[], %(scores_a)s::float8[], %(scores_b)s::float8[],
        %(reasonings)s::text[]) AS score (criterion, a, b, reasoning)
)
SELECT * FROM counted
"""


def store_rows(
    claimed: Claim, verdict: Verdict, criterion_ids: dict[str, int], attempt_id: int, values: dict[str, Any]
) -> Tally | None:
    """Store a verdict and count it. ``values``: flags and what the call brought, by column.

    Returns None, and writes nothing, when the claim was lost or the session was aborted meanwhile.
    """
    parameters = {
        **values,
        "comparison": claimed.comparison_id,
        "session": claimed.session_id,
        "token": claimed.token,
        "attempt": attempt_id,
        "winner": verdict.winner.value,
        "confidence": verdict.confidence,
        "reasoning": verdict.reasoning,
        "chain_of_thought": json.dumps(verdict.chain_of_thought),
        "verdict": json.dumps(verdict.document),
        "criteria": [criterion_ids[score.key] for score in verdict.scores],
        "scores_a": [score.score_a for score in verdict.scores],
        "scores_b": [score.score_b for score in verdict.scores],
        "reasonings": [score.reasoning for score in verdict.scores],
    }
    with connection.cursor() as cursor:
        cursor.execute(_statement(), parameters)
        row = cursor.fetchone()
    return Tally(*row) if row else None


@cache
def _statement() -> str:
    return _STORE.format(
        comparisons=JudgeComparison._meta.db_table,
        sessions=JudgeSession._meta.db_table,
        evaluations=JudgeEvaluation._meta.db_table,
        scores=CriterionScore._meta.db_table,
        attempts=JudgeAttempt._meta.db_table,
    )
