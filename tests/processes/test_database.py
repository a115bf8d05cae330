"""Connections to the database are cut under the workers: they go on by themselves, and no paid answer is lost."""

from multiprocessing.context import ForkServerProcess

import pytest
from django.db import transaction

from judge.models import JudgeAttempt, JudgeComparison, JudgeSession
from judge.services import control
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import (
    answers_take,
    assert_complete,
    blocked_backends,
    cut_connections,
    needs_postgres,
    wait_until_completed,
)

pytestmark = [
    needs_postgres,
    pytest.mark.processes,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


def assert_every_answer_was_used(session: JudgeSession, server: SimulatedServer) -> None:
    """Nothing was called twice and no comparison was claimed twice."""
    assert_complete(session, server)
    assert server.calls == session.total_comparisons
    assert set(JudgeComparison.objects.filter(session=session).values_list("attempt_count", flat=True)) == {1}
    attempts = JudgeAttempt.objects.filter(comparison__session=session)
    assert set(attempts.values_list("outcome", flat=True)) == {"accepted"}


def test_a_connection_cut_in_the_commit_costs_neither_the_answer_nor_a_second_call(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(threads=2, worker_count=1, is_started=False)
    answers_take(server, 300)
    worker = start_worker()
    control.start(session.pk)
    wait_for(lambda: server.calls == 1, 40, "a call")
    with transaction.atomic():
        JudgeSession.objects.select_for_update().get(pk=session.pk)
        wait_for(lambda: bool(blocked_backends("worker")), 20, "an answer that cannot be committed")
        assert cut_connections("worker") >= 1
    wait_until_completed(session)
    assert_every_answer_was_used(session, server)
    assert worker.is_alive()


def test_all_connections_cut_while_models_answer_cost_no_call(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(threads=4, worker_count=3, is_started=False)
    answers_take(server, 1000)
    worker = start_worker()
    control.start(session.pk)
    for calls in (3, 6):
        wait_for(lambda calls=calls: server.calls >= calls, 40, f"{calls} calls")  # type: ignore[misc]
        assert cut_connections("worker") >= 1
    wait_until_completed(session)
    assert_every_answer_was_used(session, server)
    assert worker.is_alive()
