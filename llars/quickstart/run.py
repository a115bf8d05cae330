"""The order of things: data directory, secrets, Redis, database, demo data, processes, demo session, end."""

import argparse
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.db.utils import OperationalError

from llars.embedded import ports, redis, secrets
from llars.embedded.data_dir import DataDir, DataDirBusy, DataDirUnusable
from llars.embedded.processes import Program, ProgramFailed, Supervisor
from llars.embedded.stopping import Stopped, StopSignals
from llars.env import ROOT, environment, settings_file
from llars.quickstart import programs

USAGE_ERROR = 2
FAILED = 1


class QuickstartFailed(Exception):
    """The run cannot go on. The text is for the person at the terminal."""


# What the person at the terminal has to set right first; each says how.
NOT_READY = (
    ImproperlyConfigured,
    ports.HostUnusable,
    ports.PortBusy,
    DataDirBusy,
    DataDirUnusable,
    redis.RedisNotFound,
    PermissionError,
)


@dataclass(frozen=True)
class Options:
    """``check``: end after the demo session, which may take ``timeout`` s. ``latency_ms``: of the simulated judge."""

    check: bool
    timeout: float
    latency_ms: int


def options(argv: list[str]) -> Options:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="quickstart", description="Run LLARS Judge on this machine, demo included.")
    add_arguments(parser)
    given = parser.parse_args(argv)
    return Options(given.check, given.timeout, given.latency_ms)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options, for this program and for ``manage.py quickstart``."""
    parser.add_argument("--check", action="store_true", help="end with 0 once the demo session is done and printed")
    parser.add_argument("--timeout", type=float, default=900, help="seconds the demo session may take in a check")
    # Slow enough to watch a verdict being written.
    parser.add_argument("--latency-ms", type=int, default=2000, help="time the simulated judge takes for a verdict")


def say(text: str = "") -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


def main(argv: list[str]) -> int:
    """Run until stopped, or in a check until the demo session is done. Return the exit code."""
    chosen = options(argv)
    try:
        with DataDir(settings_file().parent) as data, running(data) as supervisor:
            prepare_environment(data, supervisor)
            return operate(chosen, data, supervisor)
    except Stopped as stop:
        say("Stopped.")
        return 128 + stop.number if chosen.check else 0
    except NOT_READY as error:
        say(f"Cannot start: {error}")
        return USAGE_ERROR
    except (ProgramFailed, QuickstartFailed) as error:
        say(f"Failed: {error}")
        return FAILED
    except OperationalError as error:
        say(f"Failed: the database cannot be used: {str(error).partition(chr(10))[0]}")
        return FAILED


@contextmanager
def running(data: DataDir) -> Iterator[Supervisor]:
    """A supervisor whose children are gone when the block is left, whichever way."""
    supervisor = Supervisor(data.logs, ROOT)

    def hurry() -> None:
        supervisor.hurry = True

    with StopSignals(hurry) as signals:
        try:
            yield supervisor
        finally:
            signals.shield()
            if supervisor.pids():
                say("Stopping ...")
            supervisor.stop()


def prepare_environment(data: DataDir, supervisor: Supervisor) -> None:
    """Make secrets, find and start Redis, and put both into the environment of this process and its children.

    What belongs to the private run is also kept in settings.env, so that ``manage.py`` in a second terminal finds it.

    Raises:
        RedisNotFound: no server here. QuickstartFailed: the one that was named does not answer.
    """
    os.environ["LLARS_DATA_DIR"] = str(data.path)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "llars.settings")
    os.environ["PYTHONUNBUFFERED"] = "1"
    kept = {name: value for name, value in secrets.ensure(data.path).items() if name != "LLARS_REDIS_URL"}
    named = os.environ.get("LLARS_REDIS_URL")
    if named:
        if not redis.answers(named):
            raise QuickstartFailed("The Redis server that LLARS_REDIS_URL names does not answer.")
        say("Redis: the server of the environment")
        secrets.write(data.path, kept)
        return
    binary = redis.find_binary()
    program, url = redis.private_server(binary, data.path / "redis")
    supervisor.start(program)
    say(f"Redis: private, {binary.path}")
    os.environ["LLARS_REDIS_URL"] = url
    secrets.write(data.path, {**kept, "LLARS_REDIS_URL": url})


def allow_simulated_judge(port: int) -> None:
    """Let this run's processes call the local server that stands in for a model, and no other local one."""
    hosts = [host for host in os.environ.get("LLARS_LOCAL_LLM_HOSTS", "").split(",") if host]
    os.environ["LLARS_LOCAL_LLM_HOSTS"] = ",".join([*hosts, f"127.0.0.1:{port}"])


def operate(chosen: Options, data: DataDir, supervisor: Supervisor) -> int:
    """Prepare the database, start the other processes, run the demo session and stay (or not)."""
    judge_port = remembered_port(data.path / "simulated-judge.port")
    allow_simulated_judge(judge_port)
    env = environment()
    port = ports.choose(env.port, explicit="LLARS_PORT" in os.environ, host=env.host)

    import django

    django.setup()
    from llars.quickstart import demo, follow

    demo.prepare_database(say)
    demo.ensure_people(env.admin_password.get_secret_value() if env.admin_password else None, say)
    start_programs(
        supervisor,
        programs.simulated_judge(judge_port, chosen.latency_ms),
        programs.worker(),
        programs.beat(data.path),
        programs.web(env.host, port),
    )
    session = demo.ensure_session(f"http://127.0.0.1:{judge_port}/v1", is_needed=chosen.check)
    announce(programs.address(env.host, port), session.pk if session else None)
    try:
        if session is not None:
            follow.follow(session, supervisor.tend, say, chosen.timeout if chosen.check else None)
    except follow.DemoFailed as failure:
        if chosen.check:
            raise QuickstartFailed(str(failure)) from None
        say(f"Note: {failure}.")
    if chosen.check:
        return 0
    say("Running. Ctrl-C stops everything.")
    follow.stay(supervisor.tend, say)
    return 0


def remembered_port(path: Path) -> int:
    """The port of the last run if it is free, else another one, which is then remembered."""
    kept = path.read_text().strip() if path.exists() else ""
    if kept.isdecimal() and ports.is_free(int(kept)):
        return int(kept)
    port = ports.any_free()
    path.write_text(f"{port}\n")
    return port


def start_programs(supervisor: Supervisor, *wanted: Program) -> None:
    """Start the processes in the order in which they need each other."""
    for program in wanted:
        supervisor.start(program)
    say("Started: " + ", ".join(f"{name} ({pid})" for name, pid in supervisor.pids().items()))


def announce(address: str, session: int | None) -> None:
    """Print where to go."""
    say()
    say(f"  Open {address}judge/" + (f"session/{session}/" if session else ""))
    say("  The judge of this demo is simulated: no language model is asked.")
    say()
