"""The processes of the embedded run and how each shows that it is ready."""

import sys
import urllib.error
import urllib.request
from pathlib import Path

from llars.embedded.processes import Program
from llars.env import ROOT

NO_PROXY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def serves(url: str) -> bool:
    """Whether something at the URL answers HTTP without a server error."""
    try:
        with NO_PROXY.open(url, timeout=2) as answer:
            return int(answer.status) < 500
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def simulated_judge(port: int, latency_ms: int) -> Program:
    """The local server that stands in for a language model."""
    command: tuple[str, ...] = (sys.executable, str(ROOT / "manage.py"), "simulated_judge", "--port", str(port))
    command += ("--latency-ms", str(latency_ms))
    return Program("simulated-judge", command, ready=lambda: serves(f"http://127.0.0.1:{port}/v1/models"), restart=True)


def worker() -> Program:
    """The Celery worker. Its pool and size come from the settings."""
    command = (sys.executable, "-m", "celery", "-A", "llars", "worker", "--loglevel", "INFO")
    return Program("worker", (*command, "--without-gossip", "--without-mingle"), restart=True)


def beat(data_dir: Path) -> Program:
    """Celery's clock, with its schedule file in the data directory and no pid file that could go stale."""
    command = (sys.executable, "-m", "celery", "-A", "llars", "beat", "--loglevel", "INFO")
    return Program("beat", (*command, "--schedule", str(data_dir / "celerybeat-schedule"), "--pidfile="), restart=True)


def web(host: str, port: int) -> Program:
    """The ASGI server. No access log: addresses of pages are nobody's business."""
    command: tuple[str, ...] = (
        sys.executable,
        "-m",
        "uvicorn",
        "llars.asgi:application",
        "--host",
        host,
        "--port",
        str(port),
    )
    # No client has anything to say that needs more than 64 KB.
    command += ("--no-access-log", "--timeout-graceful-shutdown", "3", "--ws-max-size", "65536")
    return Program("web", command, ready=lambda: serves(address(host, port) + "health/live"), restart=True)


def address(host: str, port: int) -> str:
    """The address to open in a browser on this machine."""
    name = {"0.0.0.0": "localhost", "127.0.0.1": "localhost", "::": "localhost"}.get(host, host)  # noqa: S104
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/"
