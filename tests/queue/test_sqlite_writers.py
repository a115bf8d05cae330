"""SQLite has one writer at a time: five lanes, a busy outsider and an impatient person all get their turn."""

import contextlib
import sqlite3
import time

import pytest
from django.db import connection

from judge.domain.states import SessionStatus
from judge.models import JudgeEvaluation
from judge.services import control, recovery
from judge.services.foreground import judge_in_foreground
from judge.services.results import refresh_results
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.queue.held import held
from tests.queue.threads import beside

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_five_lanes_and_a_busy_writer_share_the_file_without_anybody_being_told_that_it_is_locked(
    make_session: MakeSession, server: SimulatedServer, caplog: pytest.LogCaptureFixture
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("a fault of SQLite alone")
    session = make_session(threads=6, repetitions_per_pair=2, worker_count=5)
    name, is_over = connection.settings_dict["NAME"], False

    def write_busily() -> int:
        written = 0
        with contextlib.closing(sqlite3.connect(name, timeout=30, isolation_level=None)) as outsider:
            while not is_over:
                outsider.execute("BEGIN IMMEDIATE")
                outsider.execute("UPDATE judge_judgesession SET description = ? WHERE id = ?", [written, session.pk])
                time.sleep(0.1)
                outsider.execute("COMMIT")
                written += 1
                time.sleep(0.02)
        return written

    def ask_impatiently() -> None:
        while not is_over:
            recovery.recover()
            refresh_results(session.pk)

    # Half of the answers are held back, so that however late the click comes there is something to pause.
    with held(server, after=12) as release, beside(write_busily) as writer, beside(ask_impatiently):
        try:
            for step, _ in enumerate(judge_in_foreground(session.pk, every_seconds=0.2)):
                if step == 2:
                    control.pause(session.pk)
                    control.resume(session.pk)
                    release()
        finally:
            is_over = True
    session.refresh_from_db()
    assert (session.status, session.completed_comparisons) == (SessionStatus.COMPLETED, 24)
    assert JudgeEvaluation.objects.count() == server.calls == 24
    assert writer.result() > 10
    assert not [word for word in ("lane_interrupted", "lane_failed", "heartbeat_failed") if word in caplog.text]
