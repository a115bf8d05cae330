"""The overview snapshot: what the results page says first, as plain JSON (shape: judge.selectors.results)."""

from collections import defaultdict
from typing import Any

from judge.models import ThreadEloScore
from judge.services.material import Material
from judge.statistics.intervals import wilson
from judge.statistics.matches import item_key
from judge.statistics.matrix import PillarCell, PillarMatrix, PillarTotal, pillar_matrix
from judge.statistics.position import position_summary


def overview_payload(
    material: Material, scores: list[ThreadEloScore], likert: dict[int, dict[str, float]]
) -> dict[str, Any]:
    """Pillar ranking, matrix, leaderboard and position swap of one session."""
    matrix = pillar_matrix(material.matches)
    return {
        "pairs_total": len(material.sides),
        "pairs_complete": len(material.outcomes),
        "pillars": _ranking(material, matrix, scores),
        "matrix": [_cell(cell) for cell in matrix.cells if item_key(cell.pillar_a) < item_key(cell.pillar_b)],
        "leaderboard": _leaderboard(material, scores, likert),
        "position_swap": _position_swap(material) if material.session.position_swap else None,
    }


def _ranking(material: Material, matrix: PillarMatrix, scores: list[ThreadEloScore]) -> list[dict[str, Any]]:
    """Pillars by score rate against all others, best first; pillars without a match at the end, without numbers."""
    totals: dict[Any, PillarTotal] = {total.pillar: total for total in matrix.totals}
    ratings: defaultdict[int, list[float]] = defaultdict(list)
    for score in scores:
        ratings[score.pillar_id].append(score.elo_score)
    rows = [_ranked(pillar, totals.get(pillar.number), ratings[pillar.pk]) for pillar in material.session.pillars.all()]
    rows.sort(key=lambda row: (row["score_rate"] is None, -(row["score_rate"] or 0.0), row["number"]))
    return [{"rank": rank, **row} for rank, row in enumerate(rows, start=1)]


def _ranked(pillar: Any, total: PillarTotal | None, ratings: list[float]) -> dict[str, Any]:
    rate = total.score.rate if total else None
    return {
        "number": pillar.number,
        "name": pillar.name,
        "name_de": pillar.name_de,
        "color": pillar.color,
        "wins": total.wins if total else 0,
        "losses": total.losses if total else 0,
        "ties": total.ties if total else 0,
        "n": total.n if total else 0,
        "win_rate": total.win.value if total else None,
        "score_rate": rate.value if rate else None,
        "low": rate.low if rate else None,
        "high": rate.high if rate else None,
        "avg_elo": sum(ratings) / len(ratings) if ratings else None,
        "thread_count": len(ratings),
    }


def _cell(cell: PillarCell) -> dict[str, Any]:
    return {
        "pillar_a": cell.pillar_a,
        "pillar_b": cell.pillar_b,
        "wins_a": cell.wins_a,
        "wins_b": cell.wins_b,
        "ties": cell.ties,
        "conflicts": cell.conflicts,
        "n": cell.n,
        "win_rate_a": cell.win_rate,
        "score_rate_a": cell.score_rate,
        "low": cell.score.rate.low,
        "high": cell.score.rate.high,
        "clear": not cell.no_clear_difference,
    }


def _leaderboard(
    material: Material, scores: list[ThreadEloScore], likert: dict[int, dict[str, float]]
) -> list[dict[str, Any]]:
    numbers = {pillar.pk: pillar.number for pillar in material.session.pillars.all()}
    ranked = sorted(scores, key=lambda score: (-score.elo_score, score.thread_id))
    return [
        {
            "rank": rank,
            "thread_id": score.thread_id,
            "pillar": numbers[score.pillar_id],
            "elo_score": score.elo_score,
            "elo_low": score.elo_low,
            "elo_high": score.elo_high,
            "bt_score": score.bt_score,
            "bt_low": score.bt_low,
            "bt_high": score.bt_high,
            "bt_flag": score.bt_flag or None,
            "matches_played": score.matches_played,
            "wins": score.wins,
            "losses": score.losses,
            "ties": score.ties,
            "win_rate": score.wins / score.matches_played,
            "low": (interval := wilson(score.wins, score.matches_played)).low,
            "high": interval.high,
            "avg_confidence": score.avg_confidence,
            "avg_likert_scores": likert.get(score.thread_id, {}),
        }
        for rank, score in enumerate(ranked, start=1)
    ]


def _position_swap(material: Material) -> dict[str, Any]:
    summary = position_summary(material.presentations)
    return {
        "pairs": summary.pairs,
        "consistent_wins": summary.consistent_wins,
        "consistent_ties": summary.consistent_ties,
        "primacy": summary.primacy,
        "recency": summary.recency,
        "mixed": summary.mixed,
        "consistency_rate": summary.consistency.value if summary.consistency else None,
        "label": summary.consistency_label,
        "first_slot_share": summary.first_slot.value if summary.first_slot else None,
        "dominant_bias": summary.dominant_bias,
        "p_value": summary.sign_test_p,
        "kappa": summary.kappa,
    }
