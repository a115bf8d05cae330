"""Run a command that cannot outlive the process that started it.

Used as a script, with the standard library alone, between the supervisor and each of its children:
``python -I -S tether.py --parent PID [--watch FD] [--user UID:GID] [--signal N] -- COMMAND...``

On Linux the kernel does the watching (PR_SET_PDEATHSIG) and this script becomes the command. Elsewhere it stays as a
guard that holds the reading end of a pipe: the pipe closes when the parent dies, however it dies.
"""

import argparse
import ctypes
import os
import select
import signal
import sys

PR_SET_PDEATHSIG = 1
GUARD_POLL_SECONDS = 0.2


def arguments(argv: list[str]) -> argparse.Namespace:
    """Parse the options and the command after ``--``."""
    parser = argparse.ArgumentParser(prog="tether")
    parser.add_argument("--parent", type=int, required=True, help="process id of the parent")
    parser.add_argument("--watch", type=int, help="file descriptor that closes with the parent: use the guard")
    parser.add_argument("--user", help="UID:GID to become before the command starts")
    parser.add_argument("--signal", type=int, default=int(signal.SIGKILL), help="signal sent when the parent dies")
    parser.add_argument("command", nargs="+")
    return parser.parse_args(argv)


def become(user: str) -> None:
    """Drop to ``UID:GID``. It has to come before prctl: a change of credentials clears the death signal."""
    uid, gid = (int(part) for part in user.split(":"))
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)


def die_with_parent(parent: int, number: int) -> None:
    """Ask the kernel to send the signal when the parent dies; exit at once if it is already gone.

    Race: a parent that died between fork and prctl is noticed by its changed process id only.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def execute(command: list[str]) -> None:
    """Become the command, with the signal that Python ignores set back to its default."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(127)


def guard(watch: int, command: list[str], number: int) -> int:
    """Run the command as a child and kill it when the pipe closes. Return its exit code (128 + n for a signal).

    The guard ignores the polite signals: the supervisor sends them to the whole group, so the command has them too.
    """
    os.set_inheritable(watch, False)
    child = os.fork()
    if child == 0:
        execute(command)
    for polite in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(polite, signal.SIG_IGN)
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        readable, _, _ = select.select([watch], [], [], GUARD_POLL_SECONDS)
        if readable and not os.read(watch, 1):
            os.kill(child, number)
            os.waitpid(child, 0)
            return 1


def main() -> int:
    """Tether and run."""
    given = arguments(sys.argv[1:])
    if given.user:
        become(given.user)
    if given.watch is not None:
        return guard(given.watch, given.command, given.signal)
    if sys.platform == "linux":
        die_with_parent(given.parent, given.signal)
    execute(given.command)
    return 127


if __name__ == "__main__":
    sys.exit(main())
