"""The claim as ONE statement: pick the next waiting comparison of a live session and lease it, or match no row.

Written by hand because the ORM has no UPDATE ... RETURNING; this is the hottest statement of the product, and one round
trip instead of five.
"""

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db import connection

from judge.domain.states import ComparisonStatus
from judge.models import JudgeComparison, JudgePair, JudgeSession
from judge.models.session import LIVE_STATUSES

_CLAIM = """
UPDATE {comparisons}
SET status = %s, worker_id = %s, claim_token = %s, lease_expires_at = {lease_end}, started_at = {now},
    attempt_count = attempt_count + 1
WHERE id = (
    SELECT waiting.id FROM {comparisons} waiting
    WHERE waiting.session_id = %s AND waiting.status = %s
      AND EXISTS (SELECT 1 FROM {sessions} live WHERE live.id = waiting.session_id AND live.status IN (%s, %s))
    ORDER BY waiting.queue_position LIMIT 1 {lock})
  AND status = %s
RETURNING id, judge_id, position_order,
    (SELECT held.status FROM {sessions} held WHERE held.id = {comparisons}.session_id),
    (SELECT pair.thread_a_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id),
    (SELECT pair.thread_b_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id),
    (SELECT pair.pillar_a_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id),
    (SELECT pair.pillar_b_id FROM {pairs} pair WHERE pair.id = {comparisons}.pair_id)
"""
# The database's clock, as django.db.models.functions.Now writes it; {lease_end} takes the lease's length.
_POSTGRESQL = {
    "now": "STATEMENT_TIMESTAMP()",
    "lease_end": "STATEMENT_TIMESTAMP() + %s * INTERVAL '1 second'",
    # Two lanes never wait for each other: each takes the first row that nobody holds.
    "lock": "FOR UPDATE SKIP LOCKED",
}
_SQLITE = {
    "now": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')",
    "lease_end": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW', %s || ' seconds')",
    "lock": "",
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
    """A fresh claim with what is to be judged: ids of threads and pillars in the slots A and B of this presentation."""

    session_status: str
    judge_id: int
    position_order: int
    thread_ids: tuple[int, int]
    pillar_ids: tuple[int, int]


def claim_next(session_id: int, worker_id: int, token: UUID) -> TakenClaim | None:
    """Lease the next waiting comparison of a live session to a lane; None without one.

    Raises IntegrityError when the lane already judges (one_running_per_lane).
    """
    dialect = _POSTGRESQL if connection.vendor == "postgresql" else _SQLITE
    tables = {
        "comparisons": JudgeComparison._meta.db_table,
        "pairs": JudgePair._meta.db_table,
        "sessions": JudgeSession._meta.db_table,
    }
    stored_token = JudgeComparison._meta.get_field("claim_token").get_db_prep_value(token, connection)
    parameters = [
        ComparisonStatus.RUNNING.value,
        worker_id,
        stored_token,
        settings.JUDGE_LEASE_SECONDS,
        session_id,
        ComparisonStatus.PENDING.value,
        *(status.value for status in LIVE_STATUSES),
        ComparisonStatus.PENDING.value,
    ]
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM.format(**dialect, **tables), parameters)
        row = cursor.fetchone()
    if row is None:
        return None
    comparison_id, judge_id, position_order, status, thread_a, thread_b, pillar_a, pillar_b = row
    step = 1 if position_order == 1 else -1
    return TakenClaim(
        comparison_id=comparison_id,
        session_id=session_id,
        worker_id=worker_id,
        token=token,
        session_status=status,
        judge_id=judge_id,
        position_order=position_order,
        thread_ids=(thread_a, thread_b)[::step],
        pillar_ids=(pillar_a, pillar_b)[::step],
    )
