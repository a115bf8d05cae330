"""What pages and API read of the results: the stored snapshot, never a computation of their own."""

from dataclasses import dataclass, field
from typing import Any

from judge.models import JudgeSession, ResultSnapshot

OVERVIEW = "overview"


@dataclass(frozen=True)
class SessionResults:
    """The overview snapshot of one session, as ``judge.services.results`` wrote it.

    ``pillars``: ranking, best first: {rank, number, name, name_de, color, wins, losses, ties, n, win_rate,
    score_rate, low, high, avg_elo, thread_count}.
    ``matrix``: one cell per pillar pair: {pillar_a, pillar_b, wins_a, wins_b, ties, conflicts, n,
    win_rate_a, score_rate_a, low, high, clear}; rates and interval are of pillar_a against pillar_b, None where n is 0.
    ``leaderboard``: {rank, thread_id, pillar, elo_score, elo_low, elo_high, bt_score, bt_low, bt_high, bt_flag,
    matches_played, wins, losses, ties, win_rate,
    low, high, avg_confidence, avg_likert_scores}.
    ``position_swap``: None without swap, else {pairs, consistent_wins, consistent_ties, primacy, recency, mixed,
    consistency_rate, label, first_slot_share, dominant_bias, p_value, kappa}.
    """

    evaluations_seen: int
    evaluations_now: int
    pairs_total: int
    pairs_complete: int
    failed: int
    pillars: list[dict[str, Any]] = field(default_factory=list)
    matrix: list[dict[str, Any]] = field(default_factory=list)
    leaderboard: list[dict[str, Any]] = field(default_factory=list)
    position_swap: dict[str, Any] | None = None

    @property
    def is_partial(self) -> bool:
        """Whether pairs are missing: not judged yet, or not to the end because a comparison failed."""
        return self.pairs_complete < self.pairs_total


def session_results(session: JudgeSession) -> SessionResults | None:
    """The newest snapshot; None before the first one."""
    snapshot = ResultSnapshot.objects.filter(session=session, kind=OVERVIEW).first()
    if snapshot is None:
        return None
    return SessionResults(
        evaluations_seen=snapshot.evaluations_seen,
        evaluations_now=session.completed_comparisons,
        failed=session.failed_comparisons,
        **snapshot.payload,
    )
