"""One chaos run from its plan to its findings."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import call_command

from judge.services.providers import simulated_model
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.chaos.crew import Crew
from tests.chaos.findings import Findings
from tests.chaos.judgement import judge_faults, judge_results, judge_verdicts
from tests.chaos.options import Options
from tests.chaos.run import ChaosRun
from tests.chaos.servers import Servers
from tests.chaos.sessions import import_demo_threads, plan_session


def prepare_database() -> User:
    """Make the tables and fill the pillars, once for all runs; returns who owns their sessions."""
    call_command("migrate", verbosity=0)
    return import_demo_threads()


def perform(options: Options, owner: User, servers: Servers, scratch: Path) -> Findings:
    """Judge a session under faults and the same plan without, and hold both against what was promised."""
    findings = Findings()
    settings = SimulatedSettings(latency_ms=options.latency_ms, chunks=10)
    with SimulatedServer(settings) as server, crew_of(scratch, options.workers) as crew:
        model = simulated_model(server.base_url)
        session, twin = (plan_session(owner, model, name, options) for name in ("Chaos", "Undisturbed"))
        exact = replace(options, comparisons=session.total_comparisons)
        story = ChaosRun(servers, crew, session, exact).judge()
        crew.thaw(everyone=True)
        calm(server, options.latency_ms / 1000 + 1)
        judge_faults(findings, story, exact)
        judge_verdicts(findings, session, server.calls)
        server.reset()
        server.judge.settings = replace(settings, latency_ms=0)
        ChaosRun(servers, crew, twin, replace(exact, kills=0, freezes=0, crashes=0, flushes=0)).judge()
        judge_results(findings, session, twin, server.calls)
    return findings


@contextmanager
def crew_of(scratch: Path, size: int) -> Iterator[Crew]:
    """Beat and so many worker processes, all gone afterwards."""
    crew = Crew(scratch)
    try:
        crew.add_beat()
        for _ in range(size):
            crew.add_worker()
        yield crew
    finally:
        crew.stop()


def calm(server: SimulatedServer, seconds: float) -> None:
    """Wait until workers that were frozen last have ended the calls that nobody waits for any more."""
    calls, since = server.calls, time.monotonic()
    while time.monotonic() - since < seconds:
        time.sleep(0.1)
        if server.calls != calls:
            calls, since = server.calls, time.monotonic()
