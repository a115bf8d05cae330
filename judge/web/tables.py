"""The tables of the results page, from the stored snapshot: shapes for the templates, no statistics of their own."""

from dataclasses import dataclass
from typing import Any

from judge.selectors.results import SessionResults
from pillars.models import Pillar


@dataclass(frozen=True)
class Cell:
    """One pillar's pairs against another, from the row's side. Rates are None without a pair; ``clear`` then too."""

    opponent: Pillar
    wins: int
    losses: int
    ties: int
    n: int
    score_rate: float | None
    low: float | None
    high: float | None
    clear: bool


@dataclass(frozen=True)
class MatrixRow:
    """One pillar against all others; None where it would meet itself."""

    pillar: Pillar
    cells: list[Cell | None]


def ranking(results: SessionResults, pillars: dict[int, Pillar]) -> list[dict[str, Any]]:
    """The pillars' rows, each with its pillar."""
    return [{**row, "pillar": pillars[row["number"]]} for row in results.pillars if row["number"] in pillars]


def matrix_rows(results: SessionResults, pillars: dict[int, Pillar]) -> list[MatrixRow]:
    """Every pillar against every other, both ways round."""
    cells: dict[tuple[int, int], Cell] = {}
    for cell in results.matrix:
        a, b = cell["pillar_a"], cell["pillar_b"]
        if a in pillars and b in pillars:
            cells[a, b] = _forward(cell, pillars[b])
            cells[b, a] = _mirrored(cell, pillars[a])
    numbers = list(pillars)
    return [MatrixRow(pillars[row], [cells.get((row, column)) for column in numbers]) for row in numbers]


def _forward(cell: dict[str, Any], opponent: Pillar) -> Cell:
    return Cell(
        opponent=opponent,
        wins=cell["wins_a"],
        losses=cell["wins_b"],
        ties=cell["ties"],
        n=cell["n"],
        score_rate=cell["score_rate_a"],
        low=cell["low"],
        high=cell["high"],
        clear=cell["clear"],
    )


def _mirrored(cell: dict[str, Any], opponent: Pillar) -> Cell:
    """The other side's view: a score rate s becomes 1 - s, and its interval turns round."""
    return Cell(
        opponent=opponent,
        wins=cell["wins_b"],
        losses=cell["wins_a"],
        ties=cell["ties"],
        n=cell["n"],
        score_rate=_turned(cell["score_rate_a"]),
        low=_turned(cell["high"]),
        high=_turned(cell["low"]),
        clear=cell["clear"],
    )


def _turned(rate: float | None) -> float | None:
    return None if rate is None else 1.0 - rate


def leaderboard(results: SessionResults, pillars: dict[int, Pillar]) -> list[dict[str, Any]]:
    """The threads' rows, each with its pillar, its mean score, and the ends of the axis its spread is drawn on."""
    rows = [row for row in results.leaderboard if row["pillar"] in pillars]
    lows = [row["elo_low"] if row["elo_low"] is not None else row["elo_score"] for row in rows]
    highs = [row["elo_high"] if row["elo_high"] is not None else row["elo_score"] for row in rows]
    # 1500 is where everybody started: it stays in the middle of the axis.
    reach = max((abs(value - 1500) for value in (*lows, *highs)), default=0) or 1
    return [
        {
            **row,
            "pillar": pillars[row["pillar"]],
            "start": 1500 - reach,
            "end": 1500 + reach,
            "avg_score": _mean(row["avg_likert_scores"]),
        }
        for row in rows
    ]


def _mean(scores: dict[str, float]) -> float | None:
    return sum(scores.values()) / len(scores) if scores else None
