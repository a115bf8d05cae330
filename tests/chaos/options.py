"""What one chaos run is to do, from the command line."""

import secrets
from argparse import ArgumentParser
from dataclasses import dataclass, fields
from pathlib import Path

NEXT = "--then"


@dataclass(frozen=True)
class Options:
    """Counts of comparisons and faults, and the shape of the run. ``latency_ms`` is how long an answer takes."""

    comparisons: int = 1500
    kills: int = 150
    freezes: int = 50
    crashes: int = 5
    flushes: int = 3
    workers: int = 4
    lanes: int = 5
    latency_ms: int = 600
    database: str = "postgres"
    seed: int = 0
    report: Path | None = None

    @property
    def samples(self) -> int:
        """Threads per pair of pillars: ten pairs of pillars in both orders give twenty comparisons each."""
        return min(5, max(1, self.comparisons // 20))

    @property
    def repetitions(self) -> int:
        """How often that is repeated to reach the comparisons that were asked for."""
        return -(-self.comparisons // (20 * self.samples))


def parse_all(arguments: list[str]) -> list[Options]:
    """Read a command line of several runs, one after the other on the same servers: the next begins with ``--then``."""
    groups: list[list[str]] = [[]]
    for argument in arguments:
        if argument == NEXT:
            groups.append([])
        else:
            groups[-1].append(argument)
    return [parse(group) for group in groups]


def parse(arguments: list[str]) -> Options:
    """Read the command line; without ``--seed`` one is drawn, and printed by the run."""
    parser = ArgumentParser("make chaos", description=__doc__, epilog=f"{NEXT}: another run, with its own options.")
    for field in fields(Options):
        name = "--" + field.name.replace("_", "-")
        if field.name == "database":
            parser.add_argument(name, choices=("postgres", "sqlite"), default=field.default)
        elif field.name == "report":
            parser.add_argument(name, type=Path, help="write the findings to this file as JSON")
        else:
            parser.add_argument(name, type=int, default=field.default)
    options = Options(**vars(parser.parse_args(arguments)))
    if options.database == "sqlite" and options.crashes:
        parser.error("SQLite has no server that could crash: --crashes 0")
    return Options(**{**vars(options), "seed": options.seed or secrets.randbelow(2**31)})
