"""Everything with one command: the same as ``python -m llars.quickstart``."""

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from llars.quickstart.run import add_arguments


class Command(BaseCommand):
    help = "Run LLARS Judge on this machine with a demo session: Redis, worker, beat, web server, simulated judge."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, check: bool, timeout: float, latency_ms: int, **options: Any) -> None:
        """Become the quickstart, which sets the environment before Django is set up and so cannot run in here."""
        command = [sys.executable, "-m", "llars.quickstart", "--timeout", str(timeout), "--latency-ms", str(latency_ms)]
        os.execv(sys.executable, [*command, "--check"] if check else command)  # noqa: S606
