"""Chance-corrected agreement of two series of verdicts on the same pairs."""

from collections import Counter
from collections.abc import Iterable

from judge.statistics.outcomes import Result


def cohen_kappa(ratings: Iterable[tuple[Result, Result]]) -> float | None:
    """Cohen's kappa, -1 to 1, of two verdicts per pair; None without ratings or where chance alone agrees always.

    Source: Cohen (1960). Evaluated in whole numbers with one division: (n x agreeing - chance) / (n^2 - chance),
    chance being the sum over the verdicts of the products of both margins.
    """
    table = Counter(ratings)
    n = sum(table.values())
    agreeing = sum(count for (first, second), count in table.items() if first == second)
    firsts: Counter[Result] = Counter()
    seconds: Counter[Result] = Counter()
    for (first, second), count in table.items():
        firsts[first] += count
        seconds[second] += count
    chance = sum(firsts[verdict] * seconds[verdict] for verdict in firsts)
    if n * n == chance:
        return None
    return (n * agreeing - chance) / (n * n - chance)
