"""ELO by replay in plan order, and how far its values depend on that order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from judge.statistics.matches import Item, Match, item_key
from judge.statistics.outcomes import Result

START = 1500.0
K = 32.0
SCALE = 400.0
_SCORE: dict[Result, float] = {"a": 1.0, "tie": 0.5, "b": 0.0}


@dataclass(frozen=True, slots=True)
class EloRating:
    """One thread's rating with its record: wins + losses + ties = matches."""

    item: Item
    rating: float
    matches: int = 0
    wins: int = 0
    losses: int = 0
    ties: int = 0


@dataclass(frozen=True, slots=True)
class EloSpread:
    """The 2.5 and 97.5 percentiles of one thread's rating over random orders of the same matches."""

    item: Item
    low: float
    high: float


def replay(matches: Sequence[Match], start: float = START, k: float = K) -> dict[Item, EloRating]:
    """Rate every thread by replaying `matches` in the given (plan) order.

    After each match both ratings move by k x (score - expected) in opposite directions, expected = 1 / (1 +
    10^((other - own) / 400)), a tie scoring 1/2. Source: Elo (1978). Plain float arithmetic in a fixed order: the
    same matches give the same table to the last digit. Sorted by item; sorting by rating is the reader's.
    """
    table: dict[Item, EloRating] = {}
    for match in matches:
        a = table.get(match.thread_a) or EloRating(match.thread_a, start)
        b = table.get(match.thread_b) or EloRating(match.thread_b, start)
        expected = 1.0 / (1.0 + 10.0 ** ((b.rating - a.rating) / SCALE))
        change = k * (_SCORE[match.result] - expected)
        table[a.item] = _after(a, change, match.result == "a", match.result == "b")
        table[b.item] = _after(b, -change, match.result == "b", match.result == "a")
    return {item: table[item] for item in sorted(table, key=item_key)}


def order_spread(
    matches: Sequence[Match], seed: int, orders: int = 100, start: float = START, k: float = K
) -> dict[Item, EloSpread]:
    """Replay the matches in `orders` random orders drawn from `seed` and give the middle 95 % of each rating.

    Raises ValueError unless orders > 0.
    """
    if orders < 1:
        raise ValueError("orders must be at least 1")
    items = sorted({item for match in matches for item in (match.thread_a, match.thread_b)}, key=item_key)
    if not items:
        return {}
    finals = _replay_orders(matches, items, seeded_orders(len(matches), orders, seed), start, k)
    low, high = np.percentile(finals, [2.5, 97.5], axis=0)
    return {item: EloSpread(item, float(low[i]), float(high[i])) for i, item in enumerate(items)}


def seeded_orders(matches: int, orders: int, seed: int) -> npt.NDArray[np.int32]:
    """`orders` random orders of match numbers, one a row; the same seed draws the same."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return np.stack([generator.permutation(matches).astype(np.int32) for _ in range(orders)])


def _replay_orders(
    matches: Sequence[Match], items: list[Item], orders: npt.NDArray[np.int32], start: float, k: float
) -> npt.NDArray[np.float64]:
    """All orders side by side: step m plays the m-th match of every order at once. Shape (orders, items)."""
    position = {item: i for i, item in enumerate(items)}
    first = np.array([position[match.thread_a] for match in matches])
    second = np.array([position[match.thread_b] for match in matches])
    scores = np.array([_SCORE[match.result] for match in matches])
    ratings = np.full(len(orders) * len(items), start, dtype=np.float64)
    rows = np.arange(len(orders)) * len(items)
    for played in orders.T:
        a = rows + first[played]
        b = rows + second[played]
        rating_a, rating_b = ratings[a], ratings[b]
        change = k * (scores[played] - 1.0 / (1.0 + 10.0 ** ((rating_b - rating_a) / SCALE)))
        ratings[a] = rating_a + change
        ratings[b] = rating_b - change
    return ratings.reshape(len(orders), len(items))


def _after(rating: EloRating, change: float, won: bool, lost: bool) -> EloRating:
    return replace(
        rating,
        rating=rating.rating + change,
        matches=rating.matches + 1,
        wins=rating.wins + won,
        losses=rating.losses + lost,
        ties=rating.ties + (not won and not lost),
    )
