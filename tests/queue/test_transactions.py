"""Conflicts that the database makes of two honest transactions: tried again, unseen by whoever asked."""

import contextlib
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from judge.domain.errors import ErrorCode
from judge.models import JudgeComparison, JudgeSession
from judge.services import queue
from judge.services.results import refresh_results
from judge.services.transactions import TRIES, in_transaction
from tests.conftest import MakeSession
from tests.factories import judged
from tests.queue.threads import beside, until

pytestmark = pytest.mark.django_db(transaction=True, serialized_rollback=True)


@pytest.fixture
def outside(transactional_db: None) -> Iterator[psycopg.Connection]:
    """A second connection that some other program might have, in autocommit."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time and no such conflicts")
    values = connection.get_connection_params()
    login = {name: values[name] for name in ("dbname", "user", "password", "host", "port") if values.get(name)}
    with contextlib.closing(psycopg.connect(**login, autocommit=True)) as opened:
        yield opened


def backend() -> int:
    """The server's number of this thread's connection."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def waits(outside: psycopg.Connection, pid: int) -> bool:
    row = outside.execute("SELECT cardinality(pg_blocking_pids(%s))", [pid]).fetchone()
    return row is not None and row[0] > 0


def test_a_deadlock_is_resolved_without_the_caller_noticing(
    make_session: MakeSession, outside: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """The other one holds the session and wants the comparison; ours holds the comparison and wants the session."""
    session = make_session()
    claimed = queue.claim(session.pk, 0)
    assert claimed is not None
    # The one whose patience ends first is refused by the server: ours, after its usual second.
    outside.execute("SET deadlock_timeout = '20s'")
    pids: list[int] = []

    def fail() -> bool:
        pids.append(backend())
        return queue.fail(claimed, ErrorCode.REFUSED)

    with outside.transaction():
        outside.execute("UPDATE judge_judgesession SET name = 'outside' WHERE id = %s", [session.pk])
        with beside(fail) as ours:
            until(lambda: pids and waits(outside, pids[0]), "our transaction to wait for the session")
            outside.execute("UPDATE judge_judgecomparison SET flags = '[]' WHERE id = %s", [claimed.comparison_id])
            outside.execute("COMMIT")
    assert ours.result() is True
    assert caplog.text.count("transaction_retried") == 1
    row = JudgeComparison.objects.get(pk=claimed.comparison_id)
    session.refresh_from_db()
    assert (row.status, session.failed_comparisons, session.name) == ("failed", 1, "outside")


def interrupted(session: JudgeSession, outside: psycopg.Connection, times: int, tries: list[int]) -> Any:
    """A transaction on one snapshot, in whose row somebody else writes ``times`` times before it does."""

    def work() -> str:
        tries.append(1)
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        description = JudgeSession.objects.get(pk=session.pk).description
        if len(tries) <= times:
            outside.execute(
                "UPDATE judge_judgesession SET description = description || 'o' WHERE id = %s", [session.pk]
            )
        JudgeSession.objects.filter(pk=session.pk).update(description=description + "u")
        return "done"

    return work


def test_three_serialisation_failures_in_a_row_are_unseen(
    make_session: MakeSession, outside: psycopg.Connection
) -> None:
    session, tries = make_session(), []
    assert in_transaction(interrupted(session, outside, 3, tries)) == "done"
    session.refresh_from_db()
    assert (len(tries), session.description) == (4, "ooou")


def test_the_fourth_serialisation_failure_in_a_row_is_raised(
    make_session: MakeSession, outside: psycopg.Connection
) -> None:
    session, tries = make_session(), []
    with pytest.raises(OperationalError) as raised:
        in_transaction(interrupted(session, outside, 9, tries))
    assert raised.value.__cause__.sqlstate == "40001"  # type: ignore[union-attr]
    session.refresh_from_db()
    assert (len(tries), session.description) == (TRIES, "o" * TRIES)


def test_a_refusal_that_no_repetition_mends_is_raised_at_once(
    make_session: MakeSession, outside: psycopg.Connection
) -> None:
    tries = []

    def work() -> None:
        tries.append(1)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL statement_timeout = 10")
            cursor.execute("SELECT pg_sleep(1)")

    with pytest.raises(OperationalError):
        in_transaction(work)
    assert len(tries) == 1


def test_storing_results_survives_a_deadlock_too(
    make_session: MakeSession, outside: psycopg.Connection, caplog: pytest.LogCaptureFixture
) -> None:
    """The refresh holds the snapshot and wants the session, for the rows it adds; the other one the other way round."""
    session = make_session(threads=1)
    for comparison in JudgeComparison.objects.filter(session=session):
        judged(comparison)
    refresh_results(session.pk)
    outside.execute("SET deadlock_timeout = '20s'")
    pids: list[int] = []

    def refresh() -> bool:
        pids.append(backend())
        return refresh_results(session.pk)

    with outside.transaction():
        outside.execute("SELECT 1 FROM judge_judgesession WHERE id = %s FOR UPDATE", [session.pk])
        with beside(refresh) as ours:
            until(lambda: pids and waits(outside, pids[0]), "the refresh to wait for the session")
            outside.execute("SELECT 1 FROM judge_resultsnapshot WHERE session_id = %s FOR UPDATE", [session.pk])
            outside.execute("COMMIT")
    assert ours.result() is True
    assert "transaction_retried" in caplog.text
