"""The model's server as a child of the supervisor, and how it shows that it is ready."""

import os
import sys
from pathlib import Path

from llars.embedded.processes import Program
from llars.localllm.model import MODEL_NAME
from llars.localllm.server import HOST
from llars.quickstart.programs import serves

SERVER = Path(__file__).with_name("server.py")
# Two short threads, the instructions and a whole verdict are about 3,500 tokens.
CONTEXT_TOKENS = 4096
LOADING_SECONDS = 120.0


def compute_threads() -> int:
    """All cores but one: the threads of llama.cpp wait for each other by spinning, so one that gets no core slows all
    of them down (with both cores of a busy machine an answer took three times as long as with one)."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, usable - 1)


def base_url(port: int) -> str:
    """The provider's address."""
    return f"http://{HOST}:{port}/v1"


def local_model(file: Path, port: int) -> Program:
    """The llama.cpp server. It is not started again: what ended it would most likely end it again."""
    command: tuple[str, ...] = (sys.executable, "-P", str(SERVER))
    command += ("--model", str(file), "--name", MODEL_NAME, "--port", str(port))
    command += ("--context", str(CONTEXT_TOKENS), "--threads", str(compute_threads()))
    return Program(
        "local-llm",
        command,
        ready=lambda: serves(f"http://{HOST}:{port}/health"),
        ready_seconds=LOADING_SECONDS,
        grace_seconds=3,
    )
