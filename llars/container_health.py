"""``python -m llars.container_health web|worker|beat``: exit code 0 if the process of this container does its work."""

import os
import sys
import time
import urllib.request
from pathlib import Path

import django

from llars import reach
from llars.celery import app
from llars.env import environment

WEB = "http://127.0.0.1:8000/health/ready"
BEAT_SCHEDULE = Path("/tmp/beat-schedule")  # noqa: S108 (the container's own)
# Beat sends a recovery every few seconds (LLARS_RECOVERY_SECONDS); three may fail, and a slow start is no fault.
BEAT_MISSES = 3
BEAT_GRACE = 30
# Database and Redis together; this process is a fresh one, which reads all migrations before it can compare them.
SERVERS_SECONDS = 5
# A worker whose threads all compute answers late; one that hangs does not answer.
PING_SECONDS = 10


def web() -> bool:
    """The server answers and reaches its database. The name is one that the pages answer to, whatever that is."""
    host = os.environ.get("LLARS_ALLOWED_HOSTS", "localhost").split(",")[0].strip().removeprefix(".")
    request = urllib.request.Request(WEB, headers={"Host": "localhost" if host == "*" else host})
    try:
        with urllib.request.urlopen(request, timeout=4) as answer:  # noqa: S310 (the address is fixed)
            return int(answer.status) == 200
    except OSError:
        return False


def worker() -> bool:
    """The worker of this container reaches its servers and answers through the broker."""
    django.setup()
    if any(answer != reach.OK for answer in reach.servers(SERVERS_SECONDS).values()):
        return False
    name = f"judge@{os.uname().nodename}"
    return bool(app.control.ping(destination=[name], timeout=PING_SECONDS))


def beat_mark(schedule: Path) -> Path:
    """The file that beat touches beside its schedule whenever it has sent a recovery (llars/celery.py)."""
    return schedule.with_name(f"{schedule.name}.sent")


def beat(schedule: Path = BEAT_SCHEDULE) -> bool:
    """The clock has lately sent a recovery: it runs, and the broker takes its messages."""
    try:
        sent = beat_mark(schedule).stat().st_mtime
    except OSError:
        return False
    return time.time() - sent < BEAT_MISSES * environment().recovery_seconds + BEAT_GRACE


CHECKS = {"web": web, "worker": worker, "beat": beat}


def main(argv: list[str]) -> int:
    """Run the named check."""
    if len(argv) != 1 or argv[0] not in CHECKS:
        sys.stderr.write(f"usage: container_health {'|'.join(CHECKS)}\n")
        return 2
    return 0 if CHECKS[argv[0]]() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
