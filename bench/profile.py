"""Where a worker's processor time goes for one comparison: ``python -m bench bench.profile``.

One lane judges in this process; the steps are wrapped in a thread clock, which costs about a microsecond each and
distorts nothing, unlike a tracing profiler. What other threads of the process do is the difference to its own clock.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from bench.stage import plan, prepare, simulated_server
from judge.models import JudgeModel, JudgeSession
from judge.services import attempts, control, deliberation, lanes, queue, results

LATENCY_MS = 40
CHUNKS = 40
REPETITIONS = 3
STEPS: tuple[tuple[Any, str, str], ...] = (
    (queue, "claim", "claim the next comparison"),
    (lanes, "load_case", "texts and prompt"),
    (deliberation, "messages_sha256", "hash of what is sent"),
    (attempts, "open_attempt", "write the call down"),
    (deliberation, "stream_chat", "call the model"),
    (deliberation, "parse_verdict", "validate the verdict"),
    (deliberation, "complete", "store, count, publish"),
)


class StepClock:
    """Adds up the processor time of wrapped functions of one thread."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def wrap(self, module: Any, name: str, step: str) -> None:
        """Replace a function by one that is timed."""
        original: Callable[..., Any] = getattr(module, name)

        def timed(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time()
            try:
                return original(*args, **kwargs)
            finally:
                self.seconds[step] += time.thread_time() - began

        setattr(module, name, timed)


def judge_here(session: JudgeSession) -> None:
    """Judge a whole session in this thread."""
    control.start(session.pk)
    while lanes.keep_lane_busy(session.pk, 0):
        pass


def measured(model: JudgeModel) -> tuple[dict[str, float], int]:
    """Milliseconds per comparison and step, and the number of comparisons."""
    judge_here(plan(model, 1))
    clock = StepClock()
    for module, name, step in STEPS:
        clock.wrap(module, name, step)
    session = plan(model, REPETITIONS)
    process, thread = time.process_time(), time.thread_time()
    judge_here(session)
    thread, process = time.thread_time() - thread, time.process_time() - process
    rows = dict(clock.seconds)
    rows["everything else of the lane"] = thread - sum(rows.values())
    rows["other threads: events"] = process - thread
    began = time.process_time()
    results.refresh_results(session.pk)
    print(f"one refresh of the results: {1000 * (time.process_time() - began):.0f} ms")
    count = session.total_comparisons
    return {step: 1000 * seconds / count for step, seconds in rows.items()}, count


def main() -> int:
    """Print a table for streamed answers and one for whole ones."""
    prepare()
    for latency, is_streamed in ((LATENCY_MS, True), (0, False)):
        with simulated_server(latency, CHUNKS, is_streamed) as model:
            rows, count = measured(model)
        print(f"\n{count} comparisons, {f'{CHUNKS} chunks' if is_streamed else 'whole answers'}: CPU per comparison")
        for step, milliseconds in rows.items():
            print(f"{step:32}{milliseconds:8.2f} ms")
        print(f"{'in all':32}{sum(rows.values()):8.2f} ms")
    return 0


if __name__ == "__main__":
    sys.exit(main())
