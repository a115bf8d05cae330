"""One-to-one matchings where not every two threads may meet."""

from collections import deque
from collections.abc import Callable, Sequence


def match_one_to_one(
    left: Sequence[int], right: Sequence[int], size: int, allowed: Callable[[int, int], bool]
) -> list[tuple[int, int]]:
    """Up to `size` pairs (l, r), each thread at most once on its side, all of them allowed.

    Threads further to the front are preferred. There are fewer than `size` pairs only if no matching of that size
    exists (augmenting paths: Kuhn 1955, Berge 1957).
    """
    direct = list(zip(left[:size], right[:size], strict=False))
    if len(direct) == size and all(allowed(a, b) for a, b in direct):
        return direct
    owner: dict[int, int] = {}
    partner: dict[int, int] = {}
    free = dict.fromkeys(right)  # in their order; a dict so that one can be taken out at once
    for thread in left:
        if len(partner) == size:
            break
        # A free partner is what the search for a path would find first, only much later where thousands are matched.
        at_once = next((candidate for candidate in free if allowed(thread, candidate)), None)
        if at_once is None:
            taken = _augment(thread, right, owner, partner, allowed)
        else:
            owner[at_once], partner[thread] = thread, at_once
            taken = at_once
        if taken is not None:
            del free[taken]
    return [(thread, partner[thread]) for thread in left if thread in partner]


def _augment(
    start: int,
    right: Sequence[int],
    owner: dict[int, int],
    partner: dict[int, int],
    allowed: Callable[[int, int], bool],
) -> int | None:
    """Give `start` a partner, moving others where needed, and return the thread of `right` that was free until now.
    None if that cannot be done: then all is left as it is."""
    reached_from: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        current = waiting.popleft()
        for candidate in right:
            if candidate in reached_from or not allowed(current, candidate):
                continue
            reached_from[candidate] = current
            if candidate in owner:
                waiting.append(owner[candidate])
                continue
            free: int | None = candidate
            while free is not None:
                mover = reached_from[free]
                previous = partner.get(mover)
                owner[free], partner[mover] = mover, free
                free = previous
            return candidate
    return None
