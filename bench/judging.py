"""Judging beside bare clients, in one run: wall time, processor time, and comparisons per second without latency.

Both sides talk to the same simulated server with the same prompts and share PostgreSQL and Redis. Our side is what runs
in production: Celery worker processes that claim, stream, validate, store and publish. Rounds alternate.
"""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from bench import bare_httpx, rivals
from bench.processes import Child, cpu_seconds
from bench.stage import LANES, PER_REPETITION, judge, plan, prepare, requests_of, settings, simulated_server, workers

LATENCY_MS = 200
CHUNKS = 40
REPETITIONS = 5
ROUNDS = 2
WORKERS = int(os.environ.get("BENCH_WORKERS", "2"))


@dataclass(frozen=True)
class Result:
    """One ratio and its goal."""

    what: str
    ours: str
    bare: str
    ratio: float
    goal: float
    is_at_most: bool = True

    @property
    def is_reached(self) -> bool:
        """Whether the ratio is on the right side of its goal."""
        return self.ratio <= self.goal if self.is_at_most else self.ratio >= self.goal


def streamed(children: list[Child]) -> Iterator[Result]:
    """400 comparisons of 200 ms in 40 chunks: wall time beside httpx2, processor time beside openai."""
    with simulated_server(LATENCY_MS, CHUNKS) as model:
        base_url, bodies = model.provider.base_url, requests_of(plan(model, REPETITIONS))
        judge(plan(model, 1))  # both sides are warm before anything is measured
        bare_httpx.stream_all(base_url, bodies[:PER_REPETITION], LANES)
        bare = ours = bare_cpu = our_cpu = 0.0
        for _ in range(ROUNDS):
            bare += bare_httpx.stream_all(base_url, bodies, LANES)
            before = cpu_seconds(children)
            ours += judge(plan(model, REPETITIONS))
            our_cpu += cpu_seconds(children) - before
            bare_cpu += rivals.run("bench.bare_openai", base_url=base_url, bodies=bodies, lanes=LANES).cpu
    calls = ROUNDS * len(bodies)
    yield Result("wall time, streamed", f"{ours / ROUNDS:.2f} s", f"{bare / ROUNDS:.2f} s", ours / bare, 1.06)
    each = (f"{1000 * cpu / calls:.1f} ms" for cpu in (our_cpu, bare_cpu))
    yield Result("worker CPU per comparison", *each, our_cpu / bare_cpu, 0.8)


def unstreamed() -> Iterator[Result]:
    """800 comparisons whose answers come at once and whole: comparisons per second beside a framework-free loop."""
    with simulated_server(0, is_streamed=False) as model:
        bodies = requests_of(plan(model, 2 * REPETITIONS))
        stores = {"database": os.environ["LLARS_DATABASE_URL"], "redis": settings.REDIS_URL}
        judge(plan(model, 1))
        bare = ours = 0.0
        for _ in range(ROUNDS):
            base_url = model.provider.base_url
            bare += rivals.run("bench.framework_free", base_url=base_url, bodies=bodies, lanes=LANES, **stores).wall
            ours += judge(plan(model, 2 * REPETITIONS))
    rates = [ROUNDS * len(bodies) / seconds for seconds in (ours, bare)]
    each = (f"{rate:.0f} /s" for rate in rates)
    yield Result("comparisons at zero latency", *each, rates[0] / rates[1], 0.35, is_at_most=False)


def show(results: list[Result]) -> None:
    """Print the table."""
    print(f"\n{LANES} lanes, {WORKERS} worker processes, {os.cpu_count()} cores")
    print(f"{'':30}{'LLARS Judge':>12}{'bare loop':>12}{'ratio':>8}{'goal':>10}")
    for result in results:
        goal = f"{'<=' if result.is_at_most else '>='} {result.goal}"
        verdict = "reached" if result.is_reached else "MISSED"
        print(f"{result.what:30}{result.ours:>12}{result.bare:>12}{result.ratio:8.3f}{goal:>10}  {verdict}")


def main() -> int:
    """Print the ratios and compare them with their goals."""
    prepare()
    with workers(WORKERS) as children:
        results = [*streamed(children), *unstreamed()]
    show(results)
    return int(not all(result.is_reached for result in results))


if __name__ == "__main__":
    sys.exit(main())
