"""Taking turns: several groups of unequal size put in one order in which all advance at the same rate.

This is Tijdeman's rule for the chairman assignment problem (R. Tijdeman, Discrete Mathematics 32, 1980). Of k groups
those may come next that are at least 1/(2k - 2) of a turn behind their share, and of them the one comes that would be
the first to fall behind by more than 1 - 1/(2k - 2). No rule can promise a smaller bound for every choice of sizes.
"""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import repeat


def interleaved(sizes: Sequence[int]) -> Iterator[int]:
    """Indexes of the groups in turn, group i `sizes[i]` times.

    After t turns of n every group has had its share t * size / n to within 1 - 1/(2k - 2) of a turn, k being the number
    of groups with a size above 0. Where two groups could come alike, the one with the lower index does. Needs memory
    for the groups alone and O(log k) time for each turn.
    """
    groups = [index for index, size in enumerate(sizes) if size > 0]
    if len(groups) == 1:
        return repeat(groups[0], sizes[groups[0]])
    return _by_deadline(sizes, groups)


def _by_deadline(sizes: Sequence[int], groups: list[int]) -> Iterator[int]:
    """Whole numbers throughout. A group's next turn may be taken from its `release` on and must be taken one turn after
    its `deadline`, the last turn up to which its lag is allowed; earliest deadline first keeps every deadline that any
    order could keep."""
    total = sum(sizes)
    parts = 2 * len(groups) - 2
    taken = dict.fromkeys(groups, 0)

    def release(group: int) -> int:
        return -(-(taken[group] * parts + 1) * total // (parts * sizes[group]))

    def deadline(group: int) -> int:
        return ((taken[group] + 1) * parts - 1) * total // (parts * sizes[group])

    waiting = [(release(group), group) for group in groups]
    heapify(waiting)
    due: list[tuple[int, int]] = []
    for turn in range(1, total + 1):
        while waiting and waiting[0][0] <= turn:
            group = heappop(waiting)[1]
            heappush(due, (deadline(group), group))
        group = heappop(due)[1]
        yield group
        taken[group] += 1
        if taken[group] < sizes[group]:
            heappush(waiting, (release(group), group))
