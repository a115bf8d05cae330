"""Claim, heartbeat, complete, fail, release: each guarded by the token, in the real database."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, connections
from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeSession
from judge.selectors.progress import status_counts
from judge.services import control, queue, recovery
from judge.services.claiming import Claim
from judge.services.stopping import stop_judge
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def expire(claimed: Claim) -> None:
    JudgeComparison.objects.filter(pk=claimed.comparison_id).update(lease_expires_at=Now() - timedelta(seconds=1))


def taken(session: JudgeSession, worker_id: int = 0) -> Claim:
    claimed = queue.claim(session.pk, worker_id)
    assert claimed is not None
    return claimed


def test_claims_follow_the_queue_order_and_take_a_lease(make_session: MakeSession) -> None:
    session = make_session()
    first, second = taken(session, 0), taken(session, 1)
    rows = JudgeComparison.objects.in_bulk([first.comparison_id, second.comparison_id])
    assert [rows[c.comparison_id].queue_position for c in (first, second)] == [0, 1]
    row = rows[first.comparison_id]
    assert (row.status, row.worker_id, row.attempt_count) == (ComparisonStatus.RUNNING, 0, 1)
    assert row.claim_token == first.token
    assert row.lease_expires_at is not None


def test_the_first_claim_moves_the_session_to_running(make_session: MakeSession) -> None:
    session = make_session()
    assert session.status == SessionStatus.QUEUED
    taken(session)
    session.refresh_from_db()
    assert session.status == SessionStatus.RUNNING


def test_a_lane_that_judges_already_gets_nothing_however_often_it_is_woken(make_session: MakeSession) -> None:
    session = make_session()
    taken(session, 0)
    assert queue.claim(session.pk, 0) is None
    assert status_counts(session)["running"] == 1


@pytest.mark.parametrize("status", ["created", "paused", "completed", "failed", "aborted"])
def test_a_session_that_is_not_live_gives_no_work(make_session: MakeSession, status: str) -> None:
    session = make_session()
    JudgeSession.objects.filter(pk=session.pk).update(status=status)
    assert queue.claim(session.pk, 0) is None


def test_many_threads_waking_the_same_lanes_never_share_a_comparison(make_session: MakeSession) -> None:
    session = make_session(worker_count=5)
    claims: list[Claim | None] = []
    barrier = threading.Barrier(10)

    def wake(worker_id: int) -> None:
        barrier.wait()
        try:
            claims.append(queue.claim(session.pk, worker_id))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=wake, args=(number % 5,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    held = [claimed for claimed in claims if claimed is not None]
    assert len(claims) == 10
    assert len({claimed.worker_id for claimed in held}) == len(held) <= 5
    assert len({claimed.comparison_id for claimed in held}) == len(held)
    assert status_counts(session)["running"] == len(held) >= 1


def test_an_expired_lease_returns_to_the_queue_and_the_late_worker_writes_nothing(make_session: MakeSession) -> None:
    session = make_session()
    late = taken(session)
    expire(late)
    assert recovery.recover().given_back == 1
    row = JudgeComparison.objects.get(pk=late.comparison_id)
    assert (row.status, row.claim_token, row.lease_expires_at, row.lost_leases) == ("pending", None, None, 1)
    again = taken(session)
    assert again.comparison_id == late.comparison_id
    assert queue.fail(late, ErrorCode.EMPTY) is False
    row.refresh_from_db()
    assert (row.status, row.claim_token) == (ComparisonStatus.RUNNING, again.token)
    session.refresh_from_db()
    assert session.failed_comparisons == 0


def test_a_heartbeat_keeps_only_leases_that_are_still_held(make_session: MakeSession) -> None:
    session = make_session()
    kept, lost = taken(session, 0), taken(session, 1)
    expire(kept)
    JudgeComparison.objects.filter(pk=lost.comparison_id).update(
        status=ComparisonStatus.PENDING, claim_token=None, lease_expires_at=None, provider=None, provider_slot=None
    )
    assert queue.extend([kept.token, lost.token]) == {kept.token}
    assert recovery.recover().given_back == 0


def test_the_third_lost_lease_fails_the_comparison_as_poison_and_the_session_goes_on(make_session: MakeSession) -> None:
    session = make_session()
    for _ in range(3):
        claimed = taken(session)
        expire(claimed)
        recovery.recover()
    row = JudgeComparison.objects.get(pk=claimed.comparison_id)
    assert (row.status, row.error_code, row.attempt_count) == (ComparisonStatus.FAILED, ErrorCode.POISON, 3)
    session.refresh_from_db()
    assert session.failed_comparisons == 1
    assert taken(session).comparison_id != row.pk


def test_releasing_gives_the_comparison_back_without_counting_the_attempt(make_session: MakeSession) -> None:
    session = make_session()
    claimed = taken(session)
    assert queue.release(claimed) is True
    row = JudgeComparison.objects.get(pk=claimed.comparison_id)
    assert (row.status, row.attempt_count) == (ComparisonStatus.PENDING, 0)
    assert queue.release(claimed) is False


def test_an_unusable_provider_pauses_the_session_with_its_reason(make_session: MakeSession) -> None:
    session = make_session()
    claimed = taken(session)
    queue.release(claimed, ErrorCode.UNAUTHORIZED)
    stop_judge(session.session_judges.get().pk, ErrorCode.UNAUTHORIZED)
    session.refresh_from_db()
    assert (session.status, session.status_reason) == (SessionStatus.PAUSED, "unauthorized")
    assert queue.claim(session.pk, 0) is None


def test_nothing_is_written_after_an_abort(make_session: MakeSession) -> None:
    session = make_session()
    claimed = taken(session)
    control.abort(session.pk)
    assert queue.fail(claimed, ErrorCode.REFUSED) is False
    session.refresh_from_db()
    assert (session.status, session.failed_comparisons) == (SessionStatus.ABORTED, 0)
    assert status_counts(session)["running"] == 0


def test_a_claim_that_slipped_past_an_abort_cannot_be_completed(make_session: MakeSession) -> None:
    session = make_session()
    claimed = taken(session)
    JudgeSession.objects.filter(pk=session.pk).update(status=SessionStatus.ABORTED)
    assert queue.fail(claimed, ErrorCode.REFUSED) is False
    assert JudgeComparison.objects.get(pk=claimed.comparison_id).status != ComparisonStatus.FAILED


def test_a_session_of_which_everything_failed_has_failed(make_session: MakeSession) -> None:
    session = make_session(threads=1, position_swap=False)
    assert session.total_comparisons == 1
    queue.fail(taken(session), ErrorCode.REFUSED, "refused")
    session.refresh_from_db()
    assert (session.status, session.status_reason) == (SessionStatus.FAILED, "nothing_judged")
    assert session.completed_at is not None


def test_recovery_wakes_each_idle_lane_of_a_live_session_once(
    make_session: MakeSession, sent_wakeups: list[tuple[str, tuple[int, ...]]]
) -> None:
    session = make_session(worker_count=3)
    taken(session, 1)
    sent_wakeups.clear()
    assert recovery.recover().woken == 2
    assert [ids for task, ids in sent_wakeups if task == "judge.run_lane"] == [(session.pk, 0), (session.pk, 2)]


def test_two_claims_at_once_wait_for_each_other_on_no_row(make_session: MakeSession) -> None:
    """With SKIP LOCKED a lane takes the next row while another's transaction still holds the first."""
    if not connection.features.has_select_for_update_skip_locked:
        pytest.skip("this database locks the whole file instead of rows")
    session = make_session()
    second: list[Claim | None] = []

    def claim_beside() -> None:
        try:
            second.append(queue.claim(session.pk, 1))
        finally:
            connections.close_all()

    from django.db import transaction

    with transaction.atomic():
        first = JudgeComparison.objects.select_for_update().filter(session=session).order_by("queue_position").first()
        thread = threading.Thread(target=claim_beside)
        thread.start()
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert first is not None
    assert second[0] is not None
    assert second[0].comparison_id != first.pk


@pytest.mark.skipif(connection.vendor == "sqlite", reason="a file is never away")
def test_a_database_that_was_away_waits_for_signs_of_life_before_it_gives_work_back(
    make_session: MakeSession, young_database: None
) -> None:
    claimed = taken(make_session())
    expire(claimed)
    assert recovery.give_back_expired() == (0, 0)
    assert queue.held([claimed.token]) == {claimed.token}
