"""The database runs but can store nothing: a full disk, or read-only. Paid answers wait for it, nothing new is paid."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from typing import Any

import pytest
from django.db import connection, connections

from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgeEvaluation, JudgeSession
from judge.services import control
from judge.services.lanes import run_lane
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.processes.conftest import Start, wait_for
from tests.processes.outcome import (
    answers_take,
    assert_complete,
    cut_connections,
    fresh,
    needs_postgres,
    needs_sqlite,
    wait_until_completed,
)
from tests.queue.held import held

pytestmark = [
    pytest.mark.queue,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]
LONGER_THAN_A_LEASE = 3.0
VERDICTS = JudgeEvaluation._meta.db_table
# An answer of the usual length just about fits into the empty page that SQLite keeps for the table.
A_PAGE_AND_MORE = "because " * 1000


def execute(*statements: str) -> None:
    """Run statements outside any transaction."""
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.fixture
def full_disk() -> Iterator[Callable[[], None]]:
    """No verdict can be stored, as if its table could not grow; call it to make room."""

    def make_room() -> None:
        execute(f"DROP TRIGGER IF EXISTS full_disk ON {VERDICTS}", "DROP FUNCTION IF EXISTS full_disk")

    execute(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$",
        f"CREATE TRIGGER full_disk BEFORE INSERT ON {VERDICTS} EXECUTE FUNCTION full_disk()",
    )
    yield make_room
    make_room()


@needs_postgres
@pytest.mark.processes
def test_a_full_disk_pauses_the_session_and_every_answer_waits_for_room(
    make_session: MakeSession,
    server: SimulatedServer,
    start_worker: Start,
    beat: ForkServerProcess,
    full_disk: Callable[[], None],
) -> None:
    session = make_session(threads=3, worker_count=2, is_started=False)
    answers_take(server, 500)
    start_worker()
    control.start(session.pk)
    wait_for(lambda: fresh(session).status == SessionStatus.PAUSED, 40, "the session to pause")
    assert session.status_reason == "storage"
    wait_for(lambda: server.calls == 2, 5, "the calls of both lanes")
    time.sleep(LONGER_THAN_A_LEASE)
    assert server.calls == 2
    assert fresh(session).completed_comparisons == 0
    full_disk()
    wait_for(lambda: fresh(session).completed_comparisons == 2, 15, "both answers to be stored")
    control.resume(session.pk)
    wait_until_completed(session)
    assert_complete(session, server)
    assert server.calls == session.total_comparisons


@contextmanager
def read_only_database() -> Iterator[None]:
    """The database refuses to write to every connection but this one, from now to the end of the block."""
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    cut_connections("worker", "beat")
    try:
        yield
    finally:
        execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        cut_connections("worker", "beat")


@needs_postgres
@pytest.mark.processes
def test_a_read_only_database_costs_no_verdict_and_no_call_while_it_lasts(
    make_session: MakeSession, server: SimulatedServer, start_worker: Start, beat: ForkServerProcess
) -> None:
    session = make_session(threads=4, worker_count=2, is_started=False)
    answers_take(server, 300)
    worker = start_worker()
    with held(server) as release:
        control.start(session.pk)
        wait_for(lambda: server.calls == 2, 40, "two calls")
        with read_only_database():
            release()
            time.sleep(LONGER_THAN_A_LEASE)
            assert server.calls == 2
            assert fresh(session).completed_comparisons == 0
    # What could not be stored while nothing could is stored now, or judged once more.
    wait_for(lambda: fresh(session).completed_comparisons >= 2, 30, "the waiting answers")
    if fresh(session).status == SessionStatus.PAUSED:
        assert session.status_reason == "storage"
        control.resume(session.pk)
    wait_until_completed(session)
    assert_complete(session, server)
    assert server.calls <= session.total_comparisons + session.worker_count
    assert worker.is_alive()


class FullFile:
    """An SQLite file that may not grow, seen from one connection, at the moment a verdict is to be stored."""

    is_full = True

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        """Django calls this around every statement of the connection."""
        if self.is_full and sql.startswith(f'INSERT INTO "{VERDICTS}"'):
            raw = context["connection"].connection
            (pages,) = raw.execute("PRAGMA page_count").fetchone()
            raw.execute(f"PRAGMA max_page_count = {pages}")
        return execute(sql, params, many, context)


def judge_in(file: FullFile, session: JudgeSession) -> None:
    """Judge one comparison in lane 0 of this thread."""
    try:
        with connection.execute_wrapper(file):
            run_lane(session.pk, 0)
    finally:
        connections.close_all()


@needs_sqlite
def test_a_full_sqlite_file_pauses_the_session_and_the_answer_waits_for_room(
    make_session: MakeSession, server: SimulatedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session(threads=1)
    server.script(rules=[{"kind": "justified", "value": A_PAGE_AND_MORE}])
    execute("VACUUM")  # no free page is left that a verdict could go to
    file = FullFile()
    lane = threading.Thread(target=judge_in, args=(file, session))
    lane.start()
    wait_for(lambda: fresh(session).status == SessionStatus.PAUSED, 20, "the session to pause")
    assert session.status_reason == "storage"
    assert not JudgeEvaluation.objects.filter(comparison__session=session).exists()
    file.is_full = False
    lane.join(20)
    assert not lane.is_alive()
    assert JudgeComparison.objects.filter(session=session, status="completed", attempt_count=1).count() == 1
    assert server.calls == 1
