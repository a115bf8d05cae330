"""Tournaments: every two threads meet once in each repetition, those of one pillar too or (round_robin) not.

Nothing is listed and then sorted: the n-th meeting of two groups of threads is computed from n, so that a plan of a
million comparisons needs memory for its threads alone.

A thread may be in several pillars, and two threads then meet for one of the pillar pairs that they could stand for.
Therefore threads are grouped by the set of pillars they are in, and the meetings of two such groups are dealt out to
their pillar pairs in equal stretches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import lcm

from judge.domain.interleaving import interleaved
from judge.domain.plan_config import PlannedPair
from judge.domain.sampling import PillarPair, Pools, shuffled, stream

Members = tuple[int, ...]  # the pillars that a group of threads is in, sorted
Groups = dict[Members, list[int]]
Meeting = tuple[tuple[int, int], tuple[int, int]]  # (thread, the pillar it stands for) twice


def tournament(seed: int, pools: Pools, repetitions: int, within_pillars: bool) -> Iterator[PlannedPair]:
    """The pairs of the session in queue order: repetition after repetition, and within one all pillar pairs at the same
    rate. Each repetition is in a fresh order and shows first what the one before showed second."""
    groups = grouped(pools)
    places = _places(seed, groups)
    meetings = (
        (repetition, meeting)
        for repetition in range(1, repetitions + 1)
        for meeting in _meetings(seed, groups, repetition, within_pillars)
    )
    for queue_order, (repetition, (left, right)) in enumerate(meetings):
        if _left_first(places[left[0]], places[right[0]]) == (repetition % 2 == 0):
            left, right = right, left
        yield PlannedPair(queue_order, repetition, left[0], right[0], left[1], right[1])


def grouped(pools: Pools) -> Groups:
    """Threads by the pillars they are in, both sorted."""
    pillars: dict[int, list[int]] = {}
    for pillar in sorted(pools):
        for thread in pools[pillar]:
            pillars.setdefault(thread, []).append(pillar)
    groups: Groups = {}
    for thread in sorted(pillars):
        groups.setdefault(tuple(pillars[thread]), []).append(thread)
    return dict(sorted(groups.items()))


def meets_itself(members: Members, within_pillars: bool) -> bool:
    """Whether threads of one group are compared with each other. Those of two different groups always are: they can
    stand for two different pillars."""
    return within_pillars or len(members) > 1


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The meetings `start` to `stop` (exclusive) of two groups of threads, or of one with itself. `ahead` says where
    the right side begins, so that a thread is not early against all groups at once."""

    left: Sequence[int]
    right: Sequence[int] | None
    pillars: PillarPair
    start: int
    stop: int
    ahead: int

    def __len__(self) -> int:
        return self.stop - self.start

    def __iter__(self) -> Iterator[Meeting]:
        of_left, of_right = self.pillars
        for a, b in self._threads():
            yield (a, of_left), (b, of_right)

    def _threads(self) -> Iterator[tuple[int, int]]:
        if self.right is None:
            return (_circle(self.left, n) for n in range(self.start, self.stop))
        return _cross(self.left, self.right, self.ahead, range(self.start, self.stop))


def _cross(left: Sequence[int], right: Sequence[int], ahead: int, numbers: range) -> Iterator[tuple[int, int]]:
    """Both sides go round at their own pace. After their least common multiple they would come together as before, so
    the right side moves on by one. Any stretch uses the threads of a side equally often but for two uses, the first n
    meetings but for one."""
    common = lcm(len(left), len(right))
    for n in numbers:
        yield left[n % len(left)], right[(n + n // common + ahead) % len(right)]


def _circle(threads: Sequence[int], n: int) -> tuple[int, int]:
    """The circle method: in each round every thread meets another; with an odd number one has a rest, in turn. Sides
    change with every round, as a thread would be on the same one for half of the rounds."""
    seats = len(threads) - 1 + len(threads) % 2
    turn, table = divmod(n, len(threads) // 2)
    if len(threads) % 2:
        table += 1
    here, there = (turn + table) % seats, (turn - table) % seats if table else seats
    return (threads[here], threads[there]) if turn % 2 else (threads[there], threads[here])


def _meetings(seed: int, groups: Groups, repetition: int, within_pillars: bool) -> Iterator[Meeting]:
    """One repetition in queue order."""
    stretches = _stretches(seed, groups, repetition, within_pillars)
    turns = shuffled(sorted(stretches), stream(seed, "turn", repetition))
    waiting = [_merged(stretches[pair]) for pair in turns]
    for turn in interleaved([sum(map(len, stretches[pair])) for pair in turns]):
        yield next(waiting[turn])


def _merged(stretches: Sequence[_Stretch]) -> Iterator[Meeting]:
    waiting = [iter(stretch) for stretch in stretches]
    for turn in interleaved([len(stretch) for stretch in stretches]):
        yield next(waiting[turn])


def _stretches(seed: int, groups: Groups, repetition: int, within_pillars: bool) -> dict[PillarPair, list[_Stretch]]:
    """What each two pillars (or a pillar with itself) have to play in a repetition, in a fresh order of the threads."""
    random = stream(seed, "tournament", repetition)
    order = {members: shuffled(threads, random) for members, threads in groups.items()}
    found: dict[PillarPair, list[_Stretch]] = {}
    for one, other in combinations_with_replacement(groups, 2):
        if one == other and not meets_itself(one, within_pillars):
            continue
        left, right = order[one], None if one == other else order[other]
        ahead = int(random.random() * len(order[other]))
        count = len(left) * (len(left) - 1) // 2 if right is None else len(left) * len(right)
        hosts = [(p, q) for p in one for q in other if within_pillars or p != q]
        for place, pillars in enumerate(shuffled(hosts, random)):
            start, stop = (count * edge // len(hosts) for edge in (place, place + 1))
            if start < stop:
                stretch = _Stretch(left, right, pillars, start, stop, ahead)
                found.setdefault((min(pillars), max(pillars)), []).append(stretch)
    return found


def _places(seed: int, groups: Groups) -> dict[int, int]:
    """A place in one row for every thread, those of a group side by side."""
    random = stream(seed, "slots")
    row = [thread for threads in groups.values() for thread in shuffled(threads, random)]
    return {thread: place for place, thread in enumerate(row)}


def _left_first(left: int, right: int) -> bool:
    """Which of two places is shown first: the lower one if exactly one of the two is odd.

    So to each side in the row a thread is first and second in turn, against any neighbours alike: over all its
    opponents as often first as second but for one, and so are two whole groups.
    """
    return (left < right) == ((left + right) % 2 == 1)
