"""Start, pause, resume, abort, retry: from the allowed states only, and exactly once."""

import threading

import pytest
from django.db import connections
from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.domain.states import ACTION_SOURCES, ACTION_TARGETS, SessionStatus
from judge.models import JudgeComparison, JudgeSession, LLMProvider, ProviderState
from judge.services import control, queue, recovery
from judge.services.deletion import delete_session
from judge.services.errors import ActionRefused
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


@pytest.mark.parametrize("action", sorted(ACTION_TARGETS))
@pytest.mark.parametrize("status", list(SessionStatus))
def test_an_action_moves_a_session_only_from_the_states_of_the_table(
    make_session: MakeSession, action: str, status: SessionStatus
) -> None:
    session = make_session(is_started=False)
    if action == "retry_failed":
        JudgeComparison.objects.filter(session=session, queue_position=0).update(status="failed", error_code="empty")
    JudgeSession.objects.filter(pk=session.pk).update(
        status=status, failed_comparisons=1 if action == "retry_failed" else 0
    )
    if status in ACTION_SOURCES[action]:
        assert getattr(control, action)(session.pk).status == ACTION_TARGETS[action]
    else:
        with pytest.raises(ActionRefused):
            getattr(control, action)(session.pk)
        session.refresh_from_db()
        assert session.status == status


def test_a_double_click_on_start_starts_once(make_session: MakeSession) -> None:
    session = make_session(is_started=False)
    outcomes: list[str] = []
    barrier = threading.Barrier(2)

    def click() -> None:
        barrier.wait()
        try:
            control.start(session.pk)
            outcomes.append("started")
        except ActionRefused:
            outcomes.append("refused")
        finally:
            connections.close_all()

    threads = [threading.Thread(target=click) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["refused", "started"]


def test_start_wakes_every_lane(make_session: MakeSession, sent_wakeups: list[tuple[str, tuple[int, ...]]]) -> None:
    session = make_session(worker_count=4)
    assert [ids for _, ids in sent_wakeups] == [(session.pk, lane) for lane in range(4)]


def test_pausing_lets_the_running_comparison_finish(make_session: MakeSession) -> None:
    session = make_session()
    claimed = queue.claim(session.pk, 0)
    assert claimed is not None
    control.pause(session.pk)
    assert queue.claim(session.pk, 1) is None
    assert queue.fail(claimed, ErrorCode.REFUSED) is True
    session.refresh_from_db()
    assert (session.status, session.failed_comparisons) == (SessionStatus.PAUSED, 1)


def test_retrying_returns_failed_comparisons_and_no_others(make_session: MakeSession) -> None:
    session = make_session(threads=1)
    for _ in range(2):
        claimed = queue.claim(session.pk, 0)
        assert claimed is not None
        queue.fail(claimed, ErrorCode.REFUSED)
    session.refresh_from_db()
    assert session.status == SessionStatus.FAILED
    again = control.retry_failed(session.pk)
    assert (again.status, again.failed_comparisons, again.completed_at) == (SessionStatus.QUEUED, 0, None)
    assert set(JudgeComparison.objects.filter(session=session).values_list("status", "error_code")) == {("pending", "")}


def test_an_active_session_cannot_be_deleted_an_ended_one_leaves_nothing(make_session: MakeSession) -> None:
    session = make_session()
    with pytest.raises(ActionRefused):
        delete_session(session.pk)
    control.abort(session.pk)
    delete_session(session.pk)
    assert not JudgeComparison.objects.filter(session_id=session.pk).exists()


def test_a_session_that_waits_for_a_silent_provider_can_be_resumed_by_hand(make_session: MakeSession) -> None:
    """Resuming closes the breaker, which by itself lets sessions run again that paused for it: this one only once."""
    session = make_session()
    provider = LLMProvider.objects.get()
    ProviderState.objects.create(provider=provider, breaker_reason="connection_failed", breaker_opened_at=Now())
    recovery.recover()
    session.refresh_from_db()
    assert (session.status, session.status_reason) == (SessionStatus.PAUSED, "connection_failed")
    assert control.resume(session.pk).status == SessionStatus.QUEUED
    assert queue.claim(session.pk, 0) is not None
