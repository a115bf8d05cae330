"""The llama.cpp server, as a process of its own: ``python -P server.py --model FILE --port N ...``.

It listens at 127.0.0.1 alone, asks for the key in LLARS_LLM_API_KEY, reaches for nothing on the net and keeps no text.
Nothing of the project is imported, so that it starts quickly; llama.cpp answers in threads of its own until the end.
"""

import argparse
import importlib
import os
import signal
import sys

HOST = "127.0.0.1"
KEY_VARIABLE = "LLARS_LLM_API_KEY"


def arguments(argv: list[str]) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="local-llm")
    parser.add_argument("--model", required=True, help="GGUF file")
    parser.add_argument("--name", required=True, help="name of the model in requests and answers")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--context", type=int, required=True, help="tokens of prompt and answer together")
    parser.add_argument("--threads", type=int, required=True, help="threads that compute")
    return parser.parse_args(argv)


def serve(given: argparse.Namespace, key: str) -> None:
    """Load the model and answer until SIGTERM or SIGINT. The server ends with the process; there is nothing to keep."""
    stop = {signal.SIGTERM, signal.SIGINT}
    # Blocked before llama.cpp starts its threads, which inherit it: the signal waits for sigwait below.
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    llama = importlib.import_module("xllamacpp")
    parameters = llama.CommonParams()
    parameters.model.path = given.model
    parameters.model_alias = {given.name}
    parameters.hostnames = [HOST]
    parameters.port = given.port
    parameters.api_keys = [key]
    parameters.n_ctx = given.context
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = given.threads
    parameters.cpuparams_batch.n_threads = given.threads
    parameters.offline = True
    parameters.ui = False
    # It would show the prompts, that is the threads.
    parameters.endpoint_slots = False
    server = llama.Server(parameters)  # noqa: F841  it serves as long as somebody holds it
    signal.sigwait(stop)
    # Not by way of its destructor, which waits for the answer in hand.
    os._exit(0)


def main() -> None:
    """Serve. Without a key everybody on this machine could ask, so there is none without."""
    given = arguments(sys.argv[1:])
    key = os.environ.get(KEY_VARIABLE, "")
    if not key:
        sys.exit(f"{KEY_VARIABLE} is not set")
    serve(given, key)


if __name__ == "__main__":
    main()
