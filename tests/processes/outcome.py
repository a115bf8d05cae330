"""What a session must look like when it has come through."""

from collections.abc import Callable

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Count

from judge.domain.states import SessionStatus
from judge.models import JudgeAttempt, JudgeComparison, JudgeEvaluation, JudgeSession
from judge.selectors.progress import status_counts
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.processes.conftest import wait_for

IS_SQLITE = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
needs_postgres = pytest.mark.skipif(IS_SQLITE, reason="only a database server can show it")
needs_sqlite = pytest.mark.skipif(not IS_SQLITE, reason="only SQLite has it")


def fresh(session: JudgeSession) -> JudgeSession:
    """The session as the database has it now."""
    session.refresh_from_db()
    return session


def answers_take(server: SimulatedServer, latency_ms: float, chunks: int = 10) -> None:
    """From now on a whole answer takes so long, in so many pieces."""
    server.judge.settings = SimulatedSettings(latency_ms=latency_ms, chunks=chunks)


def wait_until_completed(session: JudgeSession, seconds: float = 60) -> None:
    """Wait for the session's end."""
    wait_for(lambda: fresh(session).status == SessionStatus.COMPLETED, seconds, "the session to complete")


def assert_complete(session: JudgeSession, server: SimulatedServer) -> None:
    """Every comparison has exactly one verdict, the counters add up, and every call is on record."""
    assert status_counts(session) == {"pending": 0, "running": 0, "completed": session.total_comparisons, "failed": 0}
    assert fresh(session).completed_comparisons == session.total_comparisons
    verdicts = JudgeEvaluation.objects.filter(comparison__session=session)
    assert verdicts.count() == verdicts.values("comparison").distinct().count() == session.total_comparisons
    accepted = JudgeAttempt.objects.filter(comparison__session=session, outcome="accepted").order_by()
    assert not accepted.values("comparison").annotate(n=Count("pk")).filter(n__gt=1).exists()
    assert accepted.count() == session.total_comparisons
    assert server.calls <= JudgeAttempt.objects.count()


def running(session: JudgeSession) -> list[JudgeComparison]:
    """The comparisons in lanes now."""
    return list(JudgeComparison.objects.filter(session=session).in_lanes())


def blocked_backends(name: str, lock: str = "%") -> list[int]:
    """Process ids of the PostgreSQL backends of the worker of that name that wait for a lock, of the kind given.

    Two wake-ups of one lane also wait for each other, for a moment, before either has claimed anything (lock
    "transactionid"); a table that is locked is waited for as "relation".
    """
    with connection.cursor() as cursor:
        # Within one transaction the view would stay as it was at the first look.
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT pid FROM pg_stat_activity"
            " WHERE application_name = %s AND wait_event_type = 'Lock' AND wait_event LIKE %s",
            [name, lock],
        )
        return [pid for (pid,) in cursor.fetchall()]


def cut_connections(*names: str) -> int:
    """Terminate all backends of the workers of these names; returns how many there were."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = ANY(%s)",
            [list(names)],
        )
        return int(cursor.fetchone()[0])


def most_lanes_until(done: Callable[[], bool], session: JudgeSession, seconds: float) -> set[int]:
    """Watch the rows until it is done; fail if more than ``worker_count`` run at once. Returns the lanes seen."""
    lanes: set[int] = set()

    def look() -> bool:
        rows = running(session)
        assert len(rows) <= session.worker_count
        lanes.update(row.worker_id for row in rows if row.worker_id is not None)
        return done()

    wait_for(look, seconds, "the session to come through")
    return lanes
