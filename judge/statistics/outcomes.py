"""From verdicts to pair outcomes: what both orders of a pair say together, and what several judges say together."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

Winner = Literal["A", "B", "TIE"]
Result = Literal["a", "b", "tie"]
Conflict = Literal["primacy", "recency", "mixed"]
Reading = Literal["majority", "each"]
Value = TypeVar("Value")

_UNSWAPPED: dict[tuple[str, int], Result] = {
    ("A", 1): "a",
    ("B", 1): "b",
    ("A", 2): "b",
    ("B", 2): "a",
    ("TIE", 1): "tie",
    ("TIE", 2): "tie",
}


@dataclass(frozen=True, slots=True)
class Presentation:
    """One verdict as the judge gave it.

    `pair` is a number whose order is the plan's order. `winner` names the slot: "A" is the text shown first.
    `position_order` 1 showed thread_a first, 2 (the swap) thread_b.
    """

    pair: int
    judge: int
    position_order: int
    winner: Winner


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What a pair says. `result` names the thread: "a" is the pair's thread_a. `judge` is None for a majority."""

    pair: int
    judge: int | None
    result: Result
    conflict: Conflict | None = None


def unswap(winner: str, position_order: int) -> Result:
    """Map a verdict from slot to thread. Raises ValueError for anything but A, B, TIE and order 1, 2."""
    try:
        return _UNSWAPPED[winner, position_order]
    except KeyError:
        raise ValueError(f"not a verdict: winner {winner!r} in position order {position_order!r}") from None


def orders_by_pair(presentations: Iterable[Presentation]) -> dict[tuple[int, int], dict[int, Winner]]:
    """Group verdicts as (pair, judge) -> position order -> winning slot, sorted by pair (plan order), then judge.

    Raises ValueError for a verdict that is none, and for two verdicts of one judge on the same pair and order.
    """
    grouped: defaultdict[tuple[int, int], dict[int, Winner]] = defaultdict(dict)
    for row in presentations:
        unswap(row.winner, row.position_order)
        orders = grouped[row.pair, row.judge]
        if row.position_order in orders:
            raise ValueError(f"pair {row.pair}, judge {row.judge}: order {row.position_order} has two verdicts")
        orders[row.position_order] = row.winner
    return {key: grouped[key] for key in sorted(grouped)}


def combine_orders(first: Winner, second: Winner) -> tuple[Result, Conflict | None]:
    """The outcome of both orders: `first` is the winning slot of order 1, `second` that of order 2 (the swap).

    The same thread twice wins, TIE twice is a tie; all else is a tie with its conflict: *primacy* (both say A),
    *recency* (both say B) or *mixed* (one TIE).
    """
    by_thread = unswap(first, 1)
    if by_thread == unswap(second, 2):
        return by_thread, None
    if first == second:
        return "tie", "primacy" if first == "A" else "recency"
    return "tie", "mixed"


def pair_outcomes(presentations: Iterable[Presentation], orders_expected: int) -> list[PairOutcome]:
    """One outcome per (pair, judge) whose orders are all in, in plan order, whatever the order of the input.

    `orders_expected` is 2 with position swap and 1 without; then the one verdict is the outcome.
    Raises ValueError for contradictory input (see `orders_by_pair`) or more orders than expected.
    """
    if orders_expected not in (1, 2):
        raise ValueError("orders_expected must be 1 or 2")
    outcomes = []
    for (pair, judge), orders in orders_by_pair(presentations).items():
        if len(orders) > orders_expected:
            raise ValueError(f"pair {pair}, judge {judge}: more than {orders_expected} order")
        if len(orders) < orders_expected:
            continue
        if orders_expected == 1:
            [(order, winner)] = orders.items()
            outcomes.append(PairOutcome(pair, judge, unswap(winner, order)))
        else:
            outcomes.append(PairOutcome(pair, judge, *combine_orders(orders[1], orders[2])))
    return outcomes


def majority(outcomes: Iterable[PairOutcome], judges_expected: int | None = None) -> list[PairOutcome]:
    """One outcome per pair: what more than half of its judges say; no majority is a tie. In plan order.

    A conflict stays only if more than half of the judges have that very conflict (so with one judge nothing
    changes). With `judges_expected` a pair counts only when the outcomes of that many judges are in.
    """
    by_pair: defaultdict[int, list[PairOutcome]] = defaultdict(list)
    for outcome in outcomes:
        by_pair[outcome.pair].append(outcome)
    readings = []
    for pair in sorted(by_pair):
        votes = by_pair[pair]
        if judges_expected is not None and len(votes) < judges_expected:
            continue
        result = _held_by_most([vote.result for vote in votes]) or "tie"
        conflict = _held_by_most([vote.conflict for vote in votes])
        readings.append(PairOutcome(pair, None, result, conflict))
    return readings


def read_outcomes(
    outcomes: Iterable[PairOutcome], reading: Reading | int = "majority", judges_expected: int | None = None
) -> list[PairOutcome]:
    """The three readings of several judges: "majority", "each" (all outcomes count), or one judge by number."""
    if reading == "majority":
        return majority(outcomes, judges_expected)
    if reading == "each":
        return list(outcomes)
    if isinstance(reading, int):
        return [outcome for outcome in outcomes if outcome.judge == reading]
    raise ValueError(f"unknown reading {reading!r}")


def _held_by_most(values: list[Value]) -> Value | None:
    value, count = Counter(values).most_common(1)[0]
    return value if 2 * count > len(values) else None
