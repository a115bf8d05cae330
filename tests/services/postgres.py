"""A throw-away PostgreSQL: a cluster in a temporary directory, without fsync, gone with the run."""

import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import psycopg

from llars.embedded.ports import any_free
from llars.embedded.processes import Program
from tests.services.reaper import children_of

PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)
UNPRIVILEGED = ("postgres", "nobody")
ROLE = "llars"


class PostgresNotFound(Exception):
    """No PostgreSQL server is installed here. The text says what to install."""


def find_binaries(places: tuple[str, ...] = PLACES) -> Path:
    """The directory with initdb and postgres: from PATH, else the newest version where packages put them.

    Raises:
        PostgresNotFound: there is none.
    """
    found = shutil.which("initdb")
    candidates = [Path(found).resolve().parent] if found else []
    for place in places:
        matches = Path("/").glob(place.removeprefix("/"))
        candidates += sorted(matches, key=_version, reverse=True)
    for directory in candidates:
        if (directory / "initdb").exists() and (directory / "postgres").exists():
            return directory
    raise PostgresNotFound("PostgreSQL's server is not installed (apt-get install postgresql, brew install postgresql)")


def _version(directory: Path) -> int:
    numbers = re.findall(r"\d+", str(directory))
    return int(numbers[-1]) if numbers else 0


def account() -> tuple[int, int] | None:
    """(uid, gid) to run as: PostgreSQL refuses root, so an unprivileged user when this is root."""
    if os.getuid() != 0:
        return None
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return entry.pw_uid, entry.pw_gid
    raise PostgresNotFound("PostgreSQL refuses to run as root and there is no user 'postgres' or 'nobody'")


def throw_away(directory: Path, survives_crashes: bool = False) -> tuple[Program, str]:
    """Create a cluster in the (existing, private) directory; return the program to start and the database's URL.

    Listens on a random port of 127.0.0.1 with a random password and on a Unix socket in the directory. With
    ``survives_crashes`` everything that was committed is there again after `crash`.
    """
    binaries, user = find_binaries(), account()
    data, password, port = directory / "data", secrets.token_hex(16), any_free()
    word = directory / "password"
    word.write_text(password)
    if user:
        for path in (directory, word):
            os.chown(path, *user)
    _initialise(binaries, directory, word, user)
    url = f"postgres://{ROLE}:{password}@127.0.0.1:{port}/postgres"
    settings = {
        "listen_addresses": "127.0.0.1",
        "port": str(port),
        "unix_socket_directories": str(directory),
        # What the server has handed to the operating system survives its own death, if not the machine's.
        "fsync": "off",
        # A commit that was answered must have left the server's memory, and a page may be half written.
        "synchronous_commit": "on" if survives_crashes else "off",
        "full_page_writes": "on" if survives_crashes else "off",
        "max_connections": "200",
        "shared_buffers": "128MB",
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    program = Program(
        "postgres",
        (str(binaries / "postgres"), "-D", str(data), *options),
        ready=lambda: answers(url),
        # SIGINT: do not wait for clients. On a killed parent SIGQUIT, so that no shared memory stays behind.
        stop_signal=signal.SIGINT,
        death_signal=signal.SIGQUIT,
        user=user,
    )
    return program, url


def _initialise(binaries: Path, directory: Path, word: Path, user: tuple[int, int] | None) -> None:
    command = [str(binaries / "initdb"), "-D", str(directory / "data"), "-U", ROLE, "--pwfile", str(word)]
    command += ["-A", "scram-sha-256", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
    subprocess.run(
        command,
        cwd=directory,
        check=True,
        stdout=subprocess.DEVNULL,
        user=user[0] if user else None,
        group=user[1] if user else None,
        extra_groups=[] if user else None,
    )


def answers(url: str) -> bool:
    """Whether the server lets the role in."""
    try:
        psycopg.connect(url, connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def crash(postmaster: int, with_children: bool) -> None:
    """End a server of one's own in the middle of its work, as a crash or the kernel's memory killer would.

    ``with_children`` kills all its processes at once (Linux); else it quits without shutting anything down.
    """
    children = children_of(postmaster) if with_children else set()
    os.kill(postmaster, signal.SIGKILL if children else signal.SIGQUIT)
    for pid in children:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
