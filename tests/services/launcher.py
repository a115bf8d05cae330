"""Start what the tests need, run them on PostgreSQL and the queue's again on SQLite, check the code, clear up."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from llars.embedded import redis
from llars.embedded.processes import ProgramFailed, Supervisor
from llars.embedded.stopping import Stopped, StopSignals
from tests.services import browser, postgres, reaper
from tests.services.results import Counts, read_report

ROOT = Path(__file__).resolve().parents[2]
NO_TESTS = 5
# Processes of tests at once; each has a database and a Redis of its own. One more than two cores: many tests wait more
# than they compute, above all the heavy ones, which go to one process (`schedule`).
PARALLEL = 3
Checks = tuple[tuple[str, tuple[str, ...]], ...]
STATIC_CHECKS: Checks = (
    ("ruff check", ("ruff", "check", ".")),
    ("ruff format", ("ruff", "format", "--check", ".")),
    ("mypy", ("mypy",)),
    ("import rules", ("lint-imports",)),
)


@dataclass
class Services:
    """What the tests get: variables of their environment, and what is missing with the reason."""

    variables: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


@dataclass
class Steps:
    """Runs one command after the other and remembers how each ended."""

    scratch: Path
    counts: Counts = field(default_factory=Counts)
    lines: list[str] = field(default_factory=list)
    failed: bool = False

    def pytest(self, title: str, arguments: list[str], environment: dict[str, str], may_be_empty: bool) -> None:
        """Run pytest. No test executed is a failure unless a selection was asked for."""
        report = self.scratch / f"{title.split()[-1]}.xml"
        # In the order of collection: tests that flush the database come last, else they would take its defaults away.
        side_by_side = ["-n", str(PARALLEL), "--dist", "loadscope", "--no-loadscope-reorder"]
        command = [sys.executable, "-m", "pytest", *side_by_side, *arguments, f"--junitxml={report}"]
        code = self._call(title, command, environment)
        found = read_report(report)
        self.counts += found
        good = code == 0 or (code == NO_TESTS and may_be_empty)
        self._note(title, good, found.line() if code != NO_TESTS else "no test was selected")

    @contextmanager
    def checks_beside(self, checks: Checks, environment: dict[str, str]) -> Iterator[None]:
        """Run tools of the virtual environment beside the block; what they say is printed when it has ended."""
        running = []
        for title, command in checks:
            tool, output = Path(sys.executable).with_name(command[0]), self.scratch / f"{title}.txt"
            with output.open("w") as file:
                process = subprocess.Popen(
                    [str(tool), *command[1:]], cwd=ROOT, env=environment, stdout=file, stderr=subprocess.STDOUT
                )
            running.append((title, process, output))
        try:
            yield
            for title, process, output in running:
                code = process.wait()
                print(f"\n=== {title}\n{output.read_text()}", flush=True)
                self._note(title, code == 0, "")
        finally:
            for _, process, _ in running:
                end(process)

    def _call(self, title: str, command: list[str], environment: dict[str, str]) -> int:
        print(f"\n=== {title}", flush=True)
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        try:
            return process.wait()
        finally:
            end(process)

    def _note(self, title: str, good: bool, detail: str) -> None:
        self.failed = self.failed or not good
        self.lines.append(f"{'ok    ' if good else 'FAILED'} {title}{': ' if detail else ''}{detail}")


def end(process: "subprocess.Popen[bytes]", interrupt_after: float = 2, kill_after: float = 20) -> None:
    """See to it that the process is gone. It may have had the terminal's interrupt itself, so that comes second."""
    for seconds, number in ((interrupt_after, signal.SIGINT), (kill_after, signal.SIGKILL)):
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
    process.wait()


@contextmanager
def scratch_directory() -> Iterator[Path]:
    """A private directory that is removed, whatever the tests left in it and whoever owns it."""
    path = Path(tempfile.mkdtemp(prefix="llars-tests-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def started(scratch: Path) -> Iterator[Services]:
    """PostgreSQL, Redis and a browser, or the reason why not; all gone afterwards."""
    supervisor = Supervisor(scratch / "logs", ROOT)
    services = Services()

    def hurry() -> None:
        supervisor.hurry = True

    reaper.adopt_orphans()
    with StopSignals(hurry) as signals:
        try:
            add(services, "PostgreSQL", lambda: start_postgres(supervisor, scratch))
            add(services, "Redis", lambda: start_redis(supervisor, scratch))
            add(services, "Chromium", lambda: {browser.VARIABLE: browser.find()})
            yield services
        finally:
            signals.shield()
            if ended := reaper.end_orphans(spare=set(supervisor.pids().values())):
                print(f"ended {ended} processes that tests left behind", flush=True)
            supervisor.stop()


def add(services: Services, name: str, start: Callable[[], dict[str, str]]) -> None:
    """Start one service and keep its variables, or the reason why it is not there."""
    try:
        services.variables.update(start())
    except (postgres.PostgresNotFound, redis.RedisNotFound, browser.ChromiumNotFound) as error:
        services.missing[name] = str(error)


def start_postgres(supervisor: Supervisor, scratch: Path) -> dict[str, str]:
    """Start the throw-away PostgreSQL."""
    # Beside the scratch directory's other content, which its unprivileged user has no business in.
    scratch.chmod(0o711)
    directory = scratch / "postgres"
    directory.mkdir(mode=0o700)
    program, url = postgres.throw_away(directory)
    supervisor.start(program)
    return {"LLARS_DATABASE_URL": url, "LLARS_TEST_POSTGRES_URL": url}


def start_redis(supervisor: Supervisor, scratch: Path) -> dict[str, str]:
    """Start a private Redis for each process of tests: they empty it, and its channels know no databases."""
    binary, urls = redis.find_binary(), []
    for number in range(PARALLEL):
        program, url = redis.private_server(binary, scratch / f"redis-{number}")
        supervisor.start(replace(program, name=f"{program.name}-{number}"))
        urls.append(url)
    return {
        "LLARS_REDIS_URL": urls[0],
        "LLARS_TEST_REDIS_URLS": ",".join(urls),
        "LLARS_TEST_REDIS_SERVER": program.command[0],
    }


def environment(scratch: Path, services: Services) -> dict[str, str]:
    """The tests' environment: nothing of the developer's own LLARS settings, everything that was started.

    Temporary files lie inside the scratch directory too, so that what tests and browsers forget goes with it.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LLARS_")}
    data, temporary = scratch / "data", scratch / "tmp"
    data.mkdir(mode=0o700, exist_ok=True)
    # Passable, not readable, for the unprivileged user of a PostgreSQL that a test starts.
    temporary.mkdir(mode=0o711, exist_ok=True)
    reasons = {f"LLARS_TEST_NO_{name.upper()}": reason for name, reason in services.missing.items()}
    # Importing llars names its own settings in the environment, which would beat those in pyproject.toml.
    kept["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    return {**kept, "LLARS_DATA_DIR": str(data), "TMPDIR": str(temporary), **services.variables, **reasons}


def run(arguments: list[str], scratch: Path, services: Services) -> Steps:
    """All tests on PostgreSQL (or, without it, SQLite), the queue's again on SQLite, the static checks beside them."""
    steps, variables = Steps(scratch), environment(scratch, services)
    sqlite = {**variables, "LLARS_DATABASE_URL": f"sqlite:///{scratch / 'data' / 'test.sqlite3'}"}
    has_postgres = "PostgreSQL" not in services.missing
    if has_postgres:
        steps.pytest("all tests on PostgreSQL", arguments, variables, may_be_empty=False)
    # Beside the shorter run, so that a failure of the longer one is not scrolled away by them.
    with steps.checks_beside(STATIC_CHECKS, variables):
        if has_postgres:
            again = [*(arguments or queue_files()), "-m", "queue"]
            steps.pytest("queue tests on SQLite", again, sqlite, may_be_empty=bool(arguments))
        else:
            steps.pytest("all tests on SQLite", arguments, sqlite, may_be_empty=False)
    return steps


def queue_files() -> list[str]:
    """The files that mark tests with ``queue``: collecting all others takes longer than many a test."""
    return sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py") if "mark.queue" in path.read_text()
    )


def main(arguments: list[str]) -> int:
    """Run everything; return 0 only if nothing failed and, with CI=true, nothing was missing."""
    before = time.monotonic()
    try:
        with scratch_directory() as scratch, started(scratch) as services:
            for name, reason in services.missing.items():
                print(f"missing: {name}. {reason}", flush=True)
            if services.missing and os.environ.get("CI") == "true":
                print("Under CI nothing may be missing.")
                return 1
            steps = run(arguments, scratch, services)
    except Stopped as stop:
        return 128 + stop.number
    except (ProgramFailed, subprocess.CalledProcessError) as error:
        print(f"Cannot start what the tests need: {error}")
        return 1
    summarise(steps, services, time.monotonic() - before)
    return 1 if steps.failed else 0


def summarise(steps: Steps, services: Services, seconds: float) -> None:
    """Print one line per step, what was missing, and the tests' total as the last line."""
    print(f"\n=== summary ({seconds:.0f} s)")
    for line in [*steps.lines, *(f"missing {name}: its tests were skipped" for name in services.missing)]:
        print(line)
    print(steps.counts.line(), flush=True)
