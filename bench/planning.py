"""A plan of 999,000 comparisons: written by the worker's code while lanes could judge it, and deleted again.

Memory is the process's own at its largest; what the small plan before it took is taken off, so that libraries and
connections do not count. The goals are ratios within the run: the large plan needs hardly more memory than one of a
tenth of its size, and at most twice the time per comparison.
"""

import resource
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.stage import User, prepare, simulated_server
from judge.models import JudgeComparison, JudgeModel, JudgeSession
from judge.services.deletion import delete_for_a_while, delete_session
from judge.services.planning.configuration import SessionConfig
from judge.services.planning.writing import write_for_a_while
from judge.services.sessions import create_session
from pillars.models import EmailThread, Message, Pillar, PillarThread

SMALL, LARGE = 317, 1000  # threads; free_for_all in both orders: 100,172 and 999,000 comparisons
MEMORY_GOAL = 50.0  # MB more than the small plan
TIME_GOAL = 2.0  # larger indexes, and each turn of the worker plans the parts before it again


@dataclass(frozen=True)
class Measured:
    """One plan: comparisons, seconds by step, turns of the worker, and the process's growth in MB at its largest."""

    comparisons: int
    creating: float
    writing: float
    deleting: float
    turns: int
    growth: float

    @property
    def per_comparison(self) -> float:
        """Microseconds of writing per comparison."""
        return 1e6 * self.writing / self.comparisons


def resident() -> int:
    """Bytes of this process in memory (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class Peak:
    """The largest memory of this process within a block, in MB above what it had at the start."""

    def __enter__(self) -> "Peak":
        self._ends = threading.Event()
        self._start = self._largest = resident()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._ends.wait(0.05):
            self._largest = max(self._largest, resident())

    @property
    def growth(self) -> float:
        """MB."""
        return (self._largest - self._start) / 1e6


def threads(count: int) -> None:
    """Fill pillar 1 with so many threads of two messages, and nothing else."""
    pillar = Pillar.objects.get(number=1)
    pillar.threads.all().delete()
    rows = EmailThread.objects.bulk_create(
        EmailThread(external_id=f"example-{n}", subject=f"Example {n}", content_hash=f"{n:064}") for n in range(count)
    )
    Message.objects.bulk_create(
        Message(thread=row, position=position, role=role, content="An example text of some words.")
        for row in rows
        for position, role in enumerate(("client", "counsellor"))
    )
    PillarThread.objects.bulk_create(PillarThread(pillar=pillar, thread=row) for row in rows)


def timed(work: Callable[[], object]) -> float:
    """Seconds that the work takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def measure(model: JudgeModel, count: int) -> Measured:
    """Create, write and delete a free_for_all of so many threads."""
    threads(count)
    config = SessionConfig(
        name="Benchmark",
        pillar_ids=(1,),
        judge_model_ids=(model.pk,),
        comparison_mode="free_for_all",
        confirm_large_plan=True,
        seed=1,
    )
    turns = 1

    def write(session: JudgeSession) -> None:
        nonlocal turns
        while write_for_a_while(session.pk):
            turns += 1

    def remove(session: JudgeSession) -> None:
        delete_session(session.pk)
        while delete_for_a_while(session.pk):
            pass

    with Peak() as peak:
        began = time.monotonic()
        session = create_session(User.objects.get(username="bench"), config)
        creating = time.monotonic() - began
        writing = timed(lambda: write(session))
        session.refresh_from_db()
        rows = JudgeComparison.objects.filter(session=session).count()
        if not rows == session.planned_comparisons == session.total_comparisons:
            raise RuntimeError(f"{rows} rows, {session.planned_comparisons} of {session.total_comparisons} planned")
        deleting = timed(lambda: remove(session))
        if JudgeComparison.objects.exists() or JudgeSession.objects.exists():
            raise RuntimeError("the deletion left something behind")
    return Measured(rows, creating, writing, deleting, turns, peak.growth)


def shown(one: Measured) -> Measured:
    """Print a line of the table."""
    print(
        f"{one.comparisons:>12,}{one.creating:>7.2f} s{one.writing:>7.1f} s{one.per_comparison:>8.0f} us"
        f"{one.turns:>7}{one.deleting:>7.1f} s{one.growth:>+6.0f} MB",
        flush=True,
    )
    return one


def main() -> int:
    """Measure both plans; 0 when both goals are reached."""
    prepare()
    with simulated_server(0) as model:
        print(
            f"{'comparisons':>12}{'created':>9}{'written':>9}{'per comp.':>11}{'turns':>7}{'deleted':>9}{'memory':>9}"
        )
        small, large = shown(measure(model, SMALL)), shown(measure(model, LARGE))
    memory, slower = large.growth - small.growth, large.per_comparison / small.per_comparison
    print(f"memory {memory:+.0f} MB (goal at most {MEMORY_GOAL:.0f})")
    print(f"time per comparison x {slower:.2f} (goal at most {TIME_GOAL})")
    return int(memory > MEMORY_GOAL or slower > TIME_GOAL)


if __name__ == "__main__":
    sys.exit(main())
