"""The pillar matrix: how often the threads of one pillar beat those of another."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from judge.statistics.intervals import ClusteredRate, Rate, ScoredMatches, clustered
from judge.statistics.matches import Item, PillarMatch, item_key
from judge.statistics.outcomes import Result


@dataclass(frozen=True, slots=True)
class PillarCell:
    """Pillar a (row) against pillar b (column). `ties` holds the conflicts too; wins_a + wins_b + ties = n.

    `score` tests the difference between the pillars; `win` says how often pillar a's threads won outright.
    """

    pillar_a: Item
    pillar_b: Item
    wins_a: int
    wins_b: int
    ties: int
    conflicts: int
    n: int
    win: Rate
    score: ClusteredRate

    @property
    def win_rate(self) -> float:
        """wins_a / n, 0 to 1."""
        return self.win.value

    @property
    def score_rate(self) -> float:
        """(wins_a + ties / 2) / n, 0 to 1."""
        return self.score.rate.value

    @property
    def no_clear_difference(self) -> bool:
        """Whether the test of score_rate against 1/2 says p >= .05."""
        return self.score.no_clear_difference


@dataclass(frozen=True, slots=True)
class PillarTotal:
    """One pillar against all others together. `ties` holds the conflicts too; wins + losses + ties = n."""

    pillar: Item
    wins: int
    losses: int
    ties: int
    conflicts: int
    n: int
    win: Rate
    score: ClusteredRate


@dataclass(frozen=True, slots=True)
class WithinPillar:
    """Pairs of two threads of one pillar, which say nothing about pillars: decisive + ties = n."""

    pillar: Item
    decisive: int
    ties: int
    conflicts: int
    n: int


@dataclass(frozen=True, slots=True)
class PillarMatrix:
    """Cells for every ordered pair of different pillars that met (so each meeting appears from both sides)."""

    cells: tuple[PillarCell, ...]
    totals: tuple[PillarTotal, ...]
    within: tuple[WithinPillar, ...]

    def cell(self, pillar_a: Item, pillar_b: Item) -> PillarCell | None:
        """The cell of row `pillar_a` and column `pillar_b`; None if they never met."""
        return next((c for c in self.cells if c.pillar_a == pillar_a and c.pillar_b == pillar_b), None)


class _Seen(NamedTuple):
    """A match from one pillar's side: its own thread, the other's, half points (0, 1 or 2), whether a conflict."""

    own: Item
    other: Item
    half_points: int
    is_conflict: bool


_HALF_POINTS: dict[Result, int] = {"a": 2, "tie": 1, "b": 0}


def pillar_matrix(matches: Iterable[PillarMatch]) -> PillarMatrix:
    """Count the matches by pillar, with rates and intervals. The order of the matches changes nothing."""
    between: defaultdict[tuple[Item, Item], Counter[_Seen]] = defaultdict(Counter)
    within: defaultdict[Item, Counter[_Seen]] = defaultdict(Counter)
    for match in matches:
        half_points = _HALF_POINTS[match.result]
        is_conflict = match.conflict is not None
        seen_by_a = _Seen(match.thread_a, match.thread_b, half_points, is_conflict)
        if match.pillar_a == match.pillar_b:
            within[match.pillar_a][seen_by_a] += 1
            continue
        between[match.pillar_a, match.pillar_b][seen_by_a] += 1
        seen_by_b = _Seen(match.thread_b, match.thread_a, 2 - half_points, is_conflict)
        between[match.pillar_b, match.pillar_a][seen_by_b] += 1
    of_pillar: defaultdict[Item, Counter[_Seen]] = defaultdict(Counter)
    for (pillar, _), seen in between.items():
        of_pillar[pillar].update(seen)
    meetings = sorted(between, key=lambda meeting: (item_key(meeting[0]), item_key(meeting[1])))
    return PillarMatrix(
        cells=tuple(_cell(a, b, between[a, b]) for a, b in meetings),
        totals=tuple(_total(pillar, of_pillar[pillar]) for pillar in sorted(of_pillar, key=item_key)),
        within=tuple(_within(pillar, within[pillar]) for pillar in sorted(within, key=item_key)),
    )


def _counts(seen: Counter[_Seen]) -> tuple[int, int, int, int]:
    """Wins, losses, ties, conflicts."""
    points: Counter[int] = Counter()
    conflicts = 0
    for row, count in seen.items():
        points[row.half_points] += count
        conflicts += count * row.is_conflict
    return points[2], points[0], points[1], conflicts


def _rates(seen: Counter[_Seen]) -> tuple[Rate, ClusteredRate]:
    """Win rate (a tie counts nothing) and score rate (a tie counts half), both clustered by thread."""
    rows = list(seen.items())
    win = clustered(
        ScoredMatches(own, other, count * (points // 2) * 2, count) for (own, other, points, _), count in rows
    )
    score = clustered(ScoredMatches(own, other, count * points, count) for (own, other, points, _), count in rows)
    return win.rate, score


def _cell(pillar_a: Item, pillar_b: Item, seen: Counter[_Seen]) -> PillarCell:
    wins, losses, ties, conflicts = _counts(seen)
    return PillarCell(pillar_a, pillar_b, wins, losses, ties, conflicts, seen.total(), *_rates(seen))


def _total(pillar: Item, seen: Counter[_Seen]) -> PillarTotal:
    wins, losses, ties, conflicts = _counts(seen)
    return PillarTotal(pillar, wins, losses, ties, conflicts, seen.total(), *_rates(seen))


def _within(pillar: Item, seen: Counter[_Seen]) -> WithinPillar:
    wins, losses, ties, conflicts = _counts(seen)
    return WithinPillar(pillar, wins + losses, ties, conflicts, seen.total())
