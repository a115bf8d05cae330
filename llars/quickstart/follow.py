"""Watching the demo session from the terminal while the processes are looked after."""

import time
from collections.abc import Callable

from judge.domain.states import SessionStatus
from judge.management.leaderboard import leaderboard_lines
from judge.models import JudgeSession
from judge.selectors.results import session_results

POLL_SECONDS = 0.5
RESULTS_SECONDS = 60.0
ENDED = (SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.ABORTED)

Say = Callable[[str], None]
Tend = Callable[[], list[str]]


class DemoFailed(Exception):
    """The demo session did not come to a whole leaderboard. The text says why."""


def stay(tend: Tend, say: Say) -> None:
    """Look after the processes until somebody stops this one."""
    while True:
        pause(tend, say)


def pause(tend: Tend, say: Say) -> None:
    """One turn of waiting: restart what crashed and say so."""
    for line in tend():
        say(line)
    time.sleep(POLL_SECONDS)


def follow(session: JudgeSession, tend: Tend, say: Say, timeout: float | None) -> None:
    """Say how far the session is until it has ended, then print its leaderboard.

    Raises:
        DemoFailed: it ended otherwise than completed, with failed comparisons, without results, too late, or was
            deleted meanwhile.
    """
    try:
        wait_for_end(session, tend, say, timeout)
    except JudgeSession.DoesNotExist:
        raise DemoFailed("the demo session was deleted") from None
    if session.status != SessionStatus.COMPLETED:
        raise DemoFailed(f"the demo session ended as '{session.status}' ({session.status_reason or 'no reason given'})")
    wait_for_results(session, tend, say)
    for line in leaderboard_lines(session):
        say(line)
    say("")
    if session.failed_comparisons:
        raise DemoFailed(f"{session.failed_comparisons} comparisons of the demo session failed")


def wait_for_end(session: JudgeSession, tend: Tend, say: Say, timeout: float | None) -> None:
    """Refresh the session until it has ended; say each tenth of the way.

    Raises:
        DemoFailed: it is not at its end after ``timeout`` seconds.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    said = -1
    while session.status not in ENDED:
        if deadline is not None and time.monotonic() > deadline:
            raise DemoFailed(f"the demo session is still '{session.status}' after {timeout:.0f} s, {how_far(session)}")
        pause(tend, say)
        session.refresh_from_db()
        if session.percent // 10 > said:
            said = session.percent // 10
            say(f"  {how_far(session)}")


def how_far(session: JudgeSession) -> str:
    """For example '32 of 160 comparisons judged, 0 failed'."""
    counts = f"{session.completed_comparisons} of {session.total_comparisons} comparisons judged"
    return f"{counts}, {session.failed_comparisons} failed"


def wait_for_results(session: JudgeSession, tend: Tend, say: Say) -> None:
    """Wait until the snapshot holds every evaluation; a worker computes it when the session ends.

    Raises:
        DemoFailed: it does not come.
    """
    deadline = time.monotonic() + RESULTS_SECONDS
    while time.monotonic() < deadline:
        results = session_results(session)
        if results is not None and results.evaluations_seen >= session.completed_comparisons:
            return
        pause(tend, say)
    raise DemoFailed("the results of the demo session were not computed")
