"""When which fault happens: drawn from a seed, spread over the run by progress, not by time."""

import random
from dataclasses import dataclass
from enum import StrEnum

from tests.chaos.options import Options

# Faults end before the work does, so that the last of them is seen to be survived.
SPAN = 0.92


class Fault(StrEnum):
    """What is done to the running system."""

    KILL = "kill"  # SIGKILL of a worker process, replaced at once
    FREEZE = "freeze"  # SIGSTOP of a worker process for longer than its leases, then SIGCONT
    CRASH = "crash"  # the database server and all its processes end at once, and it is started again
    FLUSH = "flush"  # Redis forgets everything: emptied, or killed and started again empty


@dataclass(frozen=True, order=True)
class Planned:
    """A fault that is due once so many comparisons are judged; ``number`` counts the faults of its kind from 0."""

    after: int
    fault: Fault
    number: int


def plan(options: Options) -> list[Planned]:
    """All faults in their order: each kind spread evenly, at a place drawn within its stretch of the run."""
    rng = random.Random(options.seed)
    counts = {
        Fault.KILL: options.kills,
        Fault.FREEZE: options.freezes,
        Fault.CRASH: options.crashes,
        Fault.FLUSH: options.flushes,
    }
    return sorted(
        Planned(int(options.comparisons * SPAN * (number + rng.random()) / count), fault, number)
        for fault, count in counts.items()
        for number in range(count)
    )
