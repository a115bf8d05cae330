"""``python -m llars.container_health web|worker|beat``: exit code 0 if the process of this container does its work."""

import os
import sys
import time
import urllib.request
from pathlib import Path

from llars.celery import app

WEB = "http://127.0.0.1:8000/health/ready"
BEAT_SCHEDULE = Path("/tmp/beat-schedule")  # noqa: S108 (the container's own)
# Beat writes its schedule at least every three minutes.
BEAT_SECONDS = 600


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
    """The worker of this container answers through the broker."""
    name = f"judge@{os.uname().nodename}"
    return bool(app.control.ping(destination=[name], timeout=10))


def beat(schedule: Path = BEAT_SCHEDULE) -> bool:
    """The clock has written its schedule lately. Which ending the file has depends on Python's database modules."""
    written = [file.stat().st_mtime for file in schedule.parent.glob(f"{schedule.name}*")]
    return bool(written) and time.time() - max(written) < BEAT_SECONDS


CHECKS = {"web": web, "worker": worker, "beat": beat}


def main(argv: list[str]) -> int:
    """Run the named check."""
    if len(argv) != 1 or argv[0] not in CHECKS:
        sys.stderr.write(f"usage: container_health {'|'.join(CHECKS)}\n")
        return 2
    return 0 if CHECKS[argv[0]]() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
