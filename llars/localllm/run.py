"""The order of things: packages, data directory, Redis, the model's server, database, six comparisons, end."""

import argparse
import os
import secrets
import time

from django.db.utils import OperationalError

from llars.embedded import ports
from llars.embedded.data_dir import DataDir
from llars.embedded.processes import ProgramFailed, Supervisor
from llars.embedded.stopping import Stopped
from llars.env import settings_file
from llars.localllm import programs
from llars.localllm.model import MODEL_NAME, LocalModelMissing, model_file, require_packages
from llars.localllm.server import HOST, KEY_VARIABLE
from llars.quickstart.run import (
    FAILED,
    NOT_READY,
    USAGE_ERROR,
    QuickstartFailed,
    prepare_environment,
    running,
    say,
)

FOLDER = "local-llm"
TOO_SMALL = (
    f"{MODEL_NAME} is far too small to judge well. Its verdicts show that a real model can be asked from end to end, "
    "and nothing else: do not read anything into them."
)


def main(argv: list[str]) -> int:
    """Judge six comparisons with the local model and end. Return 0 only when all six verdicts are valid."""
    parser = argparse.ArgumentParser(prog="demo-llm", description="Judge six comparisons with a small local model.")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds that the six comparisons may take")
    given = parser.parse_args(argv)
    try:
        require_packages()
        with DataDir(settings_file().parent / FOLDER) as data, running(data) as supervisor:
            return operate(data, supervisor, given.timeout)
    except Stopped as stop:
        say("Stopped.")
        return 128 + stop.number
    except (LocalModelMissing, *NOT_READY) as error:
        say(f"Cannot start: {error}")
        return USAGE_ERROR
    except (ProgramFailed, QuickstartFailed) as error:
        say(f"Failed: {error}")
        return FAILED
    except OperationalError as error:
        say(f"Failed: the database cannot be used: {str(error).partition(chr(10))[0]}")
        return FAILED


def stand_apart(port: int) -> None:
    """Make this run independent of what the shell has set for others: own database, own Redis, own model.

    The key keeps other users of this machine from asking the model; it is drawn anew for every run.
    """
    os.environ.pop("LLARS_REDIS_URL", None)
    os.environ["LLARS_DATABASE_URL"] = ""
    os.environ["LLARS_LLM_BASE_URL"] = programs.base_url(port)
    os.environ["LLARS_LLM_MODEL"] = MODEL_NAME
    os.environ[KEY_VARIABLE] = secrets.token_urlsafe(32)


def operate(data: DataDir, supervisor: Supervisor, timeout: float) -> int:
    """Start the servers, plan the session, judge it and tell how it went."""
    say(TOO_SMALL)
    say()
    port = ports.any_free(HOST)
    stand_apart(port)
    prepare_environment(data, supervisor)
    before = time.monotonic()
    supervisor.start(programs.local_model(model_file(data.path), port))
    say(
        f"Model: {MODEL_NAME}, llama.cpp at {programs.base_url(port)}, {programs.compute_threads()} thread(s), "
        f"{programs.CONTEXT_TOKENS} tokens of context, loaded in {time.monotonic() - before:.1f} s"
    )

    import django

    django.setup()
    from llars.localllm import session, verdicts

    planned = session.plan(say)
    judged = verdicts.follow(planned, supervisor.tend, say, timeout)
    say()
    say(TOO_SMALL)
    if judged.valid < session.COMPARISONS:
        raise QuickstartFailed(f"{judged.valid} of {session.COMPARISONS} verdicts are valid: {judged.shortfall}")
    say(f"{judged.valid} of {session.COMPARISONS} verdicts are valid, after {judged.seconds:.0f} s.")
    return 0
