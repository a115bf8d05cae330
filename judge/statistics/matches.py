"""The match: one pair outcome with the threads (and pillars) it is about. What every rating is made from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.statistics.outcomes import Conflict, PairOutcome, Result

Item = int | str


@dataclass(frozen=True, slots=True)
class Match:
    """`result` names the side that won: "a" is `thread_a`. A conflict of the two orders is always a tie."""

    thread_a: Item
    thread_b: Item
    result: Result
    conflict: Conflict | None = None

    def __post_init__(self) -> None:
        if self.thread_a == self.thread_b:
            raise ValueError(f"thread {self.thread_a!r} cannot meet itself")
        if self.result not in ("a", "b", "tie"):
            raise ValueError(f"result must be 'a', 'b' or 'tie', not {self.result!r}")
        if self.conflict is not None and self.result != "tie":
            raise ValueError("a match with a conflict is a tie")


@dataclass(frozen=True, slots=True, kw_only=True)
class PillarMatch(Match):
    """A match that knows the pillar of each side (a thread may stand in several pillars, a side in one)."""

    pillar_a: Item
    pillar_b: Item


@dataclass(frozen=True, slots=True)
class PairSides:
    """Who meets whom in a pair, as planned."""

    thread_a: Item
    thread_b: Item
    pillar_a: Item
    pillar_b: Item


def pillar_matches(outcomes: Iterable[PairOutcome], sides: Mapping[int, PairSides]) -> list[PillarMatch]:
    """Join outcomes with the sides of their pairs, keeping the order of the outcomes.

    Raises KeyError for an outcome whose pair is not in `sides`.
    """
    return [
        PillarMatch(
            thread_a=side.thread_a,
            thread_b=side.thread_b,
            result=outcome.result,
            conflict=outcome.conflict,
            pillar_a=side.pillar_a,
            pillar_b=side.pillar_b,
        )
        for outcome in outcomes
        for side in (sides[outcome.pair],)
    ]


def item_key(item: Item) -> tuple[int, str]:
    """Sort key for items: numbers by value and before texts, so that results never depend on input order."""
    return (item, "") if isinstance(item, int) else (2**63, item)
