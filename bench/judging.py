"""Judging beside a bare client: 400 streamed comparisons, 200 ms each, 5 lanes, stored and published.

The bare client is asynchronous httpx2: five tasks that send the very same prompts to the same simulated server and read
the stream to its end, without parsing, storing or publishing anything. Our side is what runs in production: a Celery
worker process, PostgreSQL, Redis. Both run in turns within this one program, and their wall times are divided.
"""

import asyncio
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ.setdefault("LLARS_LOG_LEVEL", "ERROR")
django.setup()

import httpx2  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402

from judge.domain.prompt import render_prompt  # noqa: E402
from judge.domain.states import SessionStatus  # noqa: E402
from judge.models import JudgeModel, JudgeSession  # noqa: E402
from judge.services import control  # noqa: E402
from judge.services.briefs import brief_for  # noqa: E402
from judge.services.configuration import SessionConfig  # noqa: E402
from judge.services.providers import simulated_model  # noqa: E402
from judge.services.sessions import create_session  # noqa: E402
from judge.services.texts import rendered_threads  # noqa: E402
from llars.embedded.ports import any_free  # noqa: E402
from pillars.demo.library import demo_files  # noqa: E402
from pillars.models import Pillar  # noqa: E402
from pillars.services.imports import import_threads  # noqa: E402

LANES = 5
LATENCY_MS = 200
CHUNKS = 40
GOAL = 1.15
ROUNDS = 2


@contextmanager
def process(*command: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A child process for the time of the block."""
    child = subprocess.Popen([sys.executable, *command])
    try:
        yield child
    finally:
        child.terminate()
        with suppress(subprocess.TimeoutExpired):
            child.wait(20)
        child.kill()
        child.wait()


def wait_until(condition: "object", seconds: float = 60) -> None:
    """Poll a condition; raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.02)


def plan(model: JudgeModel, repetitions: int) -> JudgeSession:
    """80 comparisons per repetition: ten pillar pairs, four samples, both orders."""
    config = SessionConfig(
        name="Benchmark",
        pillar_ids=(1, 2, 3, 4, 5),
        judge_model_ids=(model.pk,),
        samples_per_pillar=4,
        repetitions_per_pair=repetitions,
        worker_count=LANES,
        seed=1,
    )
    return create_session(User.objects.get(username="bench"), config)


def judge(session: JudgeSession) -> float:
    """Seconds from the start of a session to its completion."""
    began = time.perf_counter()
    control.start(session.pk)
    wait_until(lambda: JudgeSession.objects.get(pk=session.pk).status == SessionStatus.COMPLETED, 300)
    return time.perf_counter() - began


def requests_of(session: JudgeSession) -> list[dict[str, object]]:
    """The bodies that judging the session sends."""
    bodies: list[dict[str, object]] = []
    brief = brief_for(session.session_judges.get().pk)
    for comparison in session.comparisons.select_related("pair").order_by("queue_position"):
        first, second = rendered_threads(comparison.thread_ids, brief.language)
        prompt = render_prompt(brief.template, brief.rubric, first.text, second.text, brief.language, "benchmark-nonce")
        bodies.append(
            {
                "model": brief.endpoint.model_name,
                "messages": prompt.messages(),
                "stream": True,
                "stream_options": {"include_usage": True},
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "schema": brief.schema},
                },
            }
        )
    return bodies


async def stream_all(base_url: str, bodies: list[dict[str, object]]) -> float:
    """Seconds for five tasks to stream all answers with a bare client."""
    waiting = iter(bodies)

    async def lane(client: httpx2.AsyncClient) -> None:
        for body in waiting:
            async with client.stream("POST", f"{base_url}/chat/completions", json=body) as response:
                assert response.status_code == 200
                async for _ in response.aiter_bytes():
                    pass

    async with httpx2.AsyncClient(timeout=60, trust_env=False) as client:
        began = time.perf_counter()
        await asyncio.gather(*(lane(client) for _ in range(LANES)))
        return time.perf_counter() - began


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far (Linux)."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Print the ratio and compare it with the goal."""
    call_command("migrate", verbosity=0)
    User.objects.create_superuser("bench", password=None)
    for number, path in demo_files().items():
        import_threads(path.read_bytes(), path.name, Pillar.objects.get(number=number))
    port = any_free()
    base_url = f"http://127.0.0.1:{port}/v1"
    serve = ("manage.py", "simulated_judge", "--port", str(port), "--latency-ms", str(LATENCY_MS))
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR")
    work = ("-m", "celery", "-A", "llars", "worker", "-P", "threads", "-c", "8", *quiet)
    with process(*serve, "--chunks", str(CHUNKS)), process(*work) as worker:
        wait_until(lambda: answers(base_url))
        model = simulated_model(base_url)
        judge(plan(model, 1))  # both sides are warm before anything is measured
        bodies = requests_of(plan(model, 5))
        asyncio.run(stream_all(base_url, bodies[:80]))
        bare: list[float] = []
        ours: list[float] = []
        before = cpu_seconds(worker.pid)
        for _ in range(ROUNDS):
            bare.append(asyncio.run(stream_all(base_url, bodies)))
            ours.append(judge(plan(model, 5)))
        spent = cpu_seconds(worker.pid) - before
    ratio = sum(ours) / sum(bare)
    ideal = len(bodies) * LATENCY_MS / 1000 / LANES
    print(f"{len(bodies)} comparisons, {LATENCY_MS} ms, {CHUNKS} chunks, {LANES} lanes; ideal {ideal:.1f} s")
    print("bare client  " + "  ".join(f"{seconds:6.2f} s" for seconds in bare))
    print("LLARS Judge  " + "  ".join(f"{seconds:6.2f} s" for seconds in ours))
    print(f"worker CPU   {1000 * spent / (ROUNDS * len(bodies)):.1f} ms per comparison")
    print(f"ratio {ratio:.3f} (goal <= {GOAL}): {'reached' if ratio <= GOAL else 'MISSED'}")
    print(f"peak memory of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")
    return int(ratio > GOAL)


def answers(base_url: str) -> bool:
    """Whether the simulated judge answers yet."""
    try:
        return httpx2.get(f"{base_url}/models", trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False


if __name__ == "__main__":
    sys.exit(main())
