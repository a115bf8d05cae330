"""A verdict is stored in one statement on PostgreSQL: what comes of it when others are just moving the same rows."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from judge.domain.states import SessionStatus
from judge.models import CriterionScore, JudgeAttempt, JudgeComparison, JudgeEvaluation, JudgeSession
from judge.selectors.progress import status_counts
from judge.services import deliberation, queue
from judge.services.lanes import run_lane
from tests.conftest import MakeSession
from tests.queue.threads import beside, until

pytestmark = [
    pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite has one writer at a time"),
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
]


def store_beside(monkeypatch: pytest.MonkeyPatch, session: JudgeSession, hold: Callable[[], Any]) -> None:
    """Judge one comparison in a lane, which comes to store it while ``hold`` has its rows in an open transaction."""
    stored = deliberation.complete
    pids: list[int] = []
    is_held = threading.Event()

    def complete(*arguments: Any) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            pids.append(cursor.fetchone()[0])
        assert is_held.wait(20)
        return stored(*arguments)

    def is_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT cardinality(pg_blocking_pids(%s)) > 0", pids)
            return bool(cursor.fetchone()[0])

    monkeypatch.setattr(deliberation, "complete", complete)
    with beside(lambda: run_lane(session.pk, 0)):
        until(lambda: pids, "an answer to store")
        with transaction.atomic():
            hold()
            is_held.set()
            until(is_waiting, "the lane to wait for our rows")


def assert_stored(session: JudgeSession) -> None:
    session.refresh_from_db()
    assert status_counts(session)["completed"] == session.completed_comparisons == 1
    row = JudgeComparison.objects.get(session=session, status="completed")
    assert (row.claim_token, row.provider_id, row.lease_expires_at) == (None, None, None)
    assert row.evaluation.scores.count() == 6
    assert JudgeAttempt.objects.get(comparison=row).outcome == JudgeAttempt.ACCEPTED


def test_a_verdict_is_whole_when_its_lease_was_extended_at_the_same_moment(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session()

    def extend() -> None:
        held = JudgeComparison.objects.get(session=session, status="running")
        assert held.claim_token is not None
        assert queue.extend([held.claim_token]) == {held.claim_token}

    store_beside(monkeypatch, session, extend)
    assert_stored(session)


def test_a_verdict_is_counted_when_another_lane_counts_at_the_same_moment(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session()
    store_beside(
        monkeypatch, session, lambda: JudgeSession.objects.filter(pk=session.pk).update(description="An example.")
    )
    assert_stored(session)


def test_nothing_of_a_verdict_is_written_when_the_session_is_aborted_at_the_same_moment(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session()
    store_beside(
        monkeypatch, session, lambda: JudgeSession.objects.filter(pk=session.pk).update(status=SessionStatus.ABORTED)
    )
    assert JudgeEvaluation.objects.count() == CriterionScore.objects.count() == 0
    assert status_counts(session)["pending"] == session.total_comparisons
    assert JudgeAttempt.objects.get().outcome == "stale_attempt"


def test_nothing_of_a_verdict_is_written_when_the_claim_is_taken_away_at_the_same_moment(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = make_session()

    def give_to_another() -> None:
        held = JudgeComparison.objects.get(session=session, status="running")
        JudgeComparison.objects.filter(pk=held.pk).update(claim_token="00000000-0000-0000-0000-000000000003")

    store_beside(monkeypatch, session, give_to_another)
    assert JudgeEvaluation.objects.count() == CriterionScore.objects.count() == 0
    session.refresh_from_db()
    assert (session.completed_comparisons, status_counts(session)["running"]) == (0, 1)
    assert JudgeAttempt.objects.get().outcome == "stale_attempt"
