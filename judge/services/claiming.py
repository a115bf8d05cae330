"""The claim as ONE statement: lease the next waiting comparison to a lane, on a free place of its provider, or nothing.

Written by hand because the ORM has no UPDATE ... RETURNING; this is the hottest statement of the product, and one round
trip instead of ten. What it asks, from the inside out:

- able: the session's judges that may be called now. The session is live and has this lane; the judge was not stopped;
  its provider does not rest, its breaker is closed, and its pace allows a call before long; the session has not yet
  its share of the provider's places (as many as its workers are of all live sessions' workers there, but at least
  one); slot is the place of the lane's own number if it is free, so that lanes which claim at the same moment seldom
  choose the same one, else the lowest free place.
- first: of each of them the first waiting comparison.
- chosen: that of the judge with the fewest comparisons in lanes, so that a slow judge does not take all lanes; of
  equals the first in the queue.
"""

from dataclasses import dataclass
from functools import cache
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, connection

from judge.domain.limits import LONGEST_WAIT
from judge.models import JudgeComparison, JudgeModel, JudgePair, JudgeSession, LLMProvider, ProviderState, SessionJudge

_CLAIM = """
WITH able AS MATERIALIZED (
    SELECT judge.id AS judge_id, model.provider_id AS provider_id,
        (SELECT free.slot FROM (
            SELECT CAST(%s AS integer) AS slot UNION ALL SELECT 0 UNION ALL
            SELECT taken.provider_slot + 1 FROM {comparisons} taken
            WHERE taken.status = 'running' AND taken.provider_id = model.provider_id) free
         WHERE free.slot < provider.max_concurrency AND free.slot < COALESCE(state.concurrency, free.slot + 1)
            AND NOT EXISTS (SELECT 1 FROM {comparisons} held WHERE held.status = 'running'
                AND held.provider_id = model.provider_id AND held.provider_slot = free.slot)
         ORDER BY CASE WHEN free.slot = %s THEN 0 ELSE 1 END, free.slot LIMIT 1) AS slot,
        (SELECT COUNT(*) FROM {comparisons} own WHERE own.status = 'running'
            AND own.session_id = judge.session_id AND own.judge_id = judge.id) AS lanes,
        (SELECT COUNT(*) FROM {comparisons} own WHERE own.status = 'running'
            AND own.session_id = judge.session_id AND own.provider_id = model.provider_id) AS places,
        provider.max_concurrency AS allowed,
        live.worker_count AS workers,
        (SELECT SUM(other.worker_count) FROM {sessions} other WHERE other.status IN ('queued', 'running')
            AND EXISTS (SELECT 1 FROM {judges} theirs JOIN {models} at ON at.id = theirs.model_id
                WHERE theirs.session_id = other.id AND theirs.stop_reason = '' AND at.provider_id = model.provider_id
                    AND EXISTS (SELECT 1 FROM {comparisons} left_over WHERE left_over.judge_id = theirs.id
                        AND left_over.status IN ('pending', 'running')))
        ) AS all_workers
    FROM {judges} judge
    JOIN {sessions} live ON live.id = judge.session_id
    JOIN {models} model ON model.id = judge.model_id
    JOIN {providers} provider ON provider.id = model.provider_id
    LEFT JOIN {states} state ON state.provider_id = provider.id
    WHERE judge.session_id = %s AND judge.stop_reason = '' AND live.status IN ('queued', 'running')
        AND live.worker_count > %s
        AND (state.provider_id IS NULL
            OR (state.breaker_reason = '' AND (state.blocked_until IS NULL OR state.blocked_until <= {now})
                AND (provider.requests_per_minute IS NULL OR COALESCE(state.next_request_at <= {soon}, TRUE))
                AND (provider.tokens_per_minute IS NULL OR COALESCE(state.next_token_at <= {soon}, TRUE))))
), first AS MATERIALIZED (
    SELECT able.provider_id, able.slot, able.lanes,
        (SELECT waiting.id FROM {comparisons} waiting
         WHERE waiting.judge_id = able.judge_id AND waiting.status = 'pending'
         ORDER BY waiting.queue_position LIMIT 1 {lock}) AS comparison_id
    FROM able
    WHERE able.slot IS NOT NULL
        AND (able.places = 0 OR able.places < ROUND(1.0 * able.allowed * able.workers / able.all_workers))
), chosen AS MATERIALIZED (
    SELECT first.comparison_id, first.provider_id, first.slot
    FROM first JOIN {comparisons} next ON next.id = first.comparison_id
    ORDER BY first.lanes, next.queue_position LIMIT 1
)
UPDATE {comparisons}
SET status = 'running', worker_id = %s, claim_token = %s, lease_expires_at = {lease_end}, started_at = {now},
    attempt_count = attempt_count + 1,
    provider_id = (SELECT provider_id FROM chosen), provider_slot = (SELECT slot FROM chosen)
WHERE {comparisons}.id = (SELECT comparison_id FROM chosen) AND {comparisons}.status = 'pending'
RETURNING {comparisons}.id, judge_id, position_order, provider_id, provider_slot,
    (SELECT held.status FROM {sessions} held WHERE held.id = {comparisons}.session_id),
    (SELECT pair.thread_a_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id),
    (SELECT pair.thread_b_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id),
    (SELECT pair.pillar_a_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id),
    (SELECT pair.pillar_b_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id)
"""
# The database's clock, as django.db.models.functions.Now writes it; {lease_end} takes the lease's length.
_POSTGRESQL = {
    "now": "STATEMENT_TIMESTAMP()",
    "soon": f"STATEMENT_TIMESTAMP() + INTERVAL '{LONGEST_WAIT} seconds'",
    "lease_end": "STATEMENT_TIMESTAMP() + %s * INTERVAL '1 second'",
    # Two lanes never wait for each other: each takes the first row that nobody holds.
    "lock": "FOR UPDATE SKIP LOCKED",
}
_SQLITE = {
    "now": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')",
    "soon": f"STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW', '{LONGEST_WAIT} seconds')",
    "lease_end": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW', %s || ' seconds')",
    "lock": "",
}
_TABLES = {
    "comparisons": JudgeComparison,
    "judges": SessionJudge,
    "models": JudgeModel,
    "pairs": JudgePair,
    "providers": LLMProvider,
    "sessions": JudgeSession,
    "states": ProviderState,
}


@dataclass(frozen=True)
class Claim:
    """The right to judge one comparison, for as long as its token stands in the row."""

    comparison_id: int
    session_id: int
    worker_id: int
    token: UUID


@dataclass(frozen=True)
class TakenClaim(Claim):
    """A fresh claim with what is to be judged: ids of threads and pillars in the slots A and B of this presentation.

    ``provider_slot`` is the place among the provider's parallel calls, from 0.
    """

    session_status: str
    judge_id: int
    position_order: int
    provider_id: int
    provider_slot: int
    thread_ids: tuple[int, int]
    pillar_ids: tuple[int, int]


def claim_next(session_id: int, worker_id: int, token: UUID) -> TakenClaim | None:
    """Lease the next waiting comparison of a live session to a lane; None without one that may be judged now.

    Raises IntegrityError when the lane already judges (one_running_per_lane), or when another lane took the same place
    at the provider at this very moment (provider_slot_once).
    """
    stored_token = JudgeComparison._meta.get_field("claim_token").get_db_prep_value(token, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            _statement(connection.vendor),
            [worker_id, worker_id, session_id, worker_id, worker_id, stored_token, settings.JUDGE_LEASE_SECONDS],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    comparison_id, judge_id, position_order, provider_id, slot, status, thread_a, thread_b, pillar_a, pillar_b = row
    step = 1 if position_order == 1 else -1
    return TakenClaim(
        comparison_id=comparison_id,
        session_id=session_id,
        worker_id=worker_id,
        token=token,
        session_status=status,
        judge_id=judge_id,
        position_order=position_order,
        provider_id=provider_id,
        provider_slot=slot,
        thread_ids=(thread_a, thread_b)[::step],
        pillar_ids=(pillar_a, pillar_b)[::step],
    )


@cache
def _statement(vendor: str) -> str:
    tables = {name: model._meta.db_table for name, model in _TABLES.items()}
    return _CLAIM.format(**(_POSTGRESQL if vendor == "postgresql" else _SQLITE), **tables)


def is_taken_place(error: IntegrityError) -> bool:
    """Whether a claim was refused because another lane took the same place at the provider."""
    names = getattr(getattr(error.__cause__, "diag", None), "constraint_name", None) or str(error)
    return "provider_slot" in names
