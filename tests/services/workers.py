"""Worker and beat processes of one's own, forked from a process that has already imported everything.

Starting ``celery -A llars worker`` costs three seconds of computing, nearly all of it imports. A test that kills
workers by the dozen would wait for nothing else. What is forked here runs the same command line and is a process like
any other: it has its own connections, is killed by its own id, and dies with the process that it was forked from.
"""

import multiprocessing
import os
import signal
import sys
from collections.abc import Mapping
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from llars.embedded.tether import die_with_parent

PRELOADED = "tests.services.worker_image"
WORKER = ("worker", "-P", "threads", "--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "WARNING")
# One thread of algebra: threads do not survive a fork.
ALONE = {"OPENBLAS_NUM_THREADS": "1", "DJANGO_SETTINGS_MODULE": "llars.settings"}


def prepare(environment: Mapping[str, str]) -> None:
    """Start the process to fork from, in this environment, unless it runs already: the first caller's settings hold."""
    before = dict(os.environ)
    os.environ.update({**ALONE, **environment})
    try:
        multiprocessing.get_context("forkserver").set_forkserver_preload([PRELOADED])
        forkserver.ensure_running()
    finally:
        os.environ.clear()
        os.environ.update(before)


def start(arguments: tuple[str, ...], log: Path, environment: Mapping[str, str] | None = None) -> ForkServerProcess:
    """Run ``celery -A llars`` with the arguments; output is appended to ``log``. `prepare` comes first."""
    context = multiprocessing.get_context("forkserver")
    process = context.Process(target=_run, args=(arguments, str(log), dict(environment or {})), name=log.stem)
    process.start()
    return process


def send(process: ForkServerProcess, number: signal.Signals) -> None:
    """Send a signal to a process that was started here and was not joined yet."""
    assert process.pid is not None
    os.kill(process.pid, number)


def _run(arguments: tuple[str, ...], log: str, environment: dict[str, str]) -> None:
    """What the forked process does."""
    if sys.platform == "linux":
        die_with_parent(os.getppid(), signal.SIGKILL)
    os.environ.update(environment)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, sys.stdout.fileno())
    os.dup2(output, sys.stderr.fileno())
    from llars.celery import app

    app.start(argv=list(arguments))
