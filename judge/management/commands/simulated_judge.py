"""Serve the simulated judge: an OpenAI-compatible server without a model."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from judge.simulated.app import SimulatedJudge
from judge.simulated.faults import FaultError
from judge.simulated.server import run
from judge.simulated.verdict import SimulatedSettings


class Command(BaseCommand):
    """Runs in the foreground; needs neither database nor Redis."""

    help = "Serve the simulated judge (no LLM): OpenAI-compatible chat completions with planted verdicts."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        defaults = SimulatedSettings()
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8765)
        parser.add_argument("--seed", type=int, default=defaults.seed)
        parser.add_argument("--position-bias", type=float, default=defaults.position_bias, help="logits toward A")
        parser.add_argument("--noise", type=float, default=defaults.noise, help="standard deviation in logits")
        parser.add_argument("--latency-ms", type=float, default=1500.0, help="duration of a whole answer")
        parser.add_argument("--chunks", type=int, default=None, help="pieces per answer")
        parser.add_argument("--record", action="store_true", help="keep requests and open /_control, for tests only")
        parser.add_argument("--faults", type=Path, default=None, help="JSON file with steps and rules")

    def handle(self, *args: Any, **options: Any) -> None:
        settings = SimulatedSettings(
            seed=options["seed"],
            position_bias=options["position_bias"],
            noise=options["noise"],
            latency_ms=options["latency_ms"],
            chunks=options["chunks"],
        )
        judge = SimulatedJudge(settings, script=_script(options["faults"]), record=options["record"])
        host, port = options["host"], options["port"]
        shown = f"[{host}]" if ":" in host else host
        self.stdout.write(f"Simulated judge (no LLM) at http://{shown}:{port}/v1")
        self.stdout.flush()
        try:
            run(host, port, judge)
        except OSError as error:
            raise CommandError(f"cannot listen at {shown}:{port}: {error.strerror}") from None


def _script(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        script = json.loads(path.read_text(encoding="utf-8"))
        SimulatedJudge(script=script)
    except (OSError, ValueError, FaultError) as error:
        raise CommandError(f"cannot use the fault script: {error}") from None
    return script
