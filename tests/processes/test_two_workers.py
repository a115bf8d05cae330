"""Two worker processes on the same database and Redis share one session."""

import time
from multiprocessing.context import ForkServerProcess

import pytest

from judge.domain.states import SessionStatus
from judge.models import JudgeSession
from judge.services import control
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import answers_take, assert_complete, fresh, most_lanes_until, wait_until_completed

pytestmark = [
    pytest.mark.queue,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]
THREADS_EACH = 3  # fewer than the lanes of the session: no process can have all of them


def test_two_workers_share_a_session_and_more_lanes_judge_more(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    answers_take(server, 400, chunks=4)
    for name in ("first", "second"):
        start_worker(name, threads=THREADS_EACH)
    warm = make_session(threads=2, worker_count=4)
    wait_until_completed(warm)
    rates = {}
    for lanes, threads in ((1, 3), (4, 12)):
        session = make_session(threads=threads, worker_count=lanes, is_started=False)
        before, began = server.calls, time.monotonic()
        control.start(session.pk)
        seen = most_lanes_until(lambda session=session: is_completed(session), session, 60)  # type: ignore[misc]
        rates[lanes] = session.total_comparisons / (time.monotonic() - began)
        assert seen == set(range(lanes))
        assert server.calls - before == session.total_comparisons
        assert_complete(session, server)
    assert rates[4] >= 2 * rates[1], rates


def is_completed(session: JudgeSession) -> bool:
    """Whether the session has come to its end."""
    return fresh(session).status == SessionStatus.COMPLETED


def test_two_sessions_of_two_workers_do_not_get_into_each_others_way(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    answers_take(server, 200, chunks=4)
    sessions = [make_session(threads=4, worker_count=3) for _ in range(2)]
    for name in ("first", "second"):
        start_worker(name)
    for session in sessions:
        wait_until_completed(session)
    wait_for(lambda: server.calls == sum(session.total_comparisons for session in sessions), 5, "every call")
    for session in sessions:
        assert_complete(session, server)
