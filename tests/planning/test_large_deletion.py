"""A session with many rows is deleted for everybody at once, and its rows by a worker."""

from datetime import timedelta

import pytest
from django.utils import timezone

from judge.domain.planning import plan_pairs
from judge.models import JudgeComparison, JudgePair, JudgeSession, SessionThread
from judge.selectors.sessions import session_list
from judge.services import control, deletion, recovery
from judge.services.deletion import delete_for_a_while, delete_session
from judge.services.errors import ActionRefused
from judge.services.foreground import judge_in_foreground
from judge.services.leases import STOPPING
from judge.services.planning import writing
from judge.services.planning.rows import append, read_frame
from judge.services.planning.writing import unwritten, write_for_a_while
from judge.services.results import refresh_results
from tests.conftest import MakeSession
from tests.queue.threads import together

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

Sent = list[tuple[str, tuple[int, ...]]]


@pytest.fixture(autouse=True)
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions of more than 10 comparisons are large; a part is two pairs."""
    monkeypatch.setattr(deletion, "AT_ONCE", 10)
    monkeypatch.setattr(deletion, "PART", 2)


def test_it_is_gone_for_everybody_at_once_and_its_rows_part_by_part(
    make_session: MakeSession, sent_wakeups: Sent
) -> None:
    session, other = make_session(comparison_mode="round_robin"), make_session()
    for _ in judge_in_foreground(session.pk, every_seconds=0.05):
        pass
    sent_wakeups.clear()
    delete_session(session.pk)
    assert sent_wakeups == [("judge.delete_session", (session.pk,))]
    assert list(session_list(session.owner)) == [other]
    assert not JudgeSession.objects.editable_by(session.owner).filter(pk=session.pk).exists()
    assert JudgeComparison.objects.filter(session=session).count() == 32
    turns = 1
    while delete_for_a_while(session.pk, seconds=0):
        turns += 1
        assert JudgeComparison.objects.filter(session=session).count() == 32 - 4 * (turns - 1)
    assert turns == 9
    assert not JudgeSession.objects.filter(pk=session.pk).exists()
    assert set(SessionThread.objects.values_list("session", flat=True)) == {other.pk}
    assert JudgeComparison.objects.filter(session=other).count() == other.total_comparisons


def test_two_workers_and_a_stop_do_no_harm(make_session: MakeSession) -> None:
    session = make_session(is_started=False, comparison_mode="round_robin")
    delete_session(session.pk)
    STOPPING.set()
    assert delete_for_a_while(session.pk)
    assert JudgePair.objects.filter(session=session).count() == 16
    STOPPING.clear()
    together(*[lambda: delete_for_a_while(session.pk)] * 2)
    assert not JudgeSession.objects.exists()
    assert not delete_for_a_while(session.pk)


def test_recovery_asks_again_for_a_deletion_without_worker(make_session: MakeSession, sent_wakeups: Sent) -> None:
    session = make_session(is_started=False, comparison_mode="round_robin")
    delete_session(session.pk)
    sent_wakeups.clear()
    recovery.recover()
    assert sent_wakeups == []
    long_ago = timezone.now() - timedelta(seconds=deletion.LOST_AFTER + 5)
    JudgeSession.objects.filter(pk=session.pk).update(deleted_at=long_ago)
    recovery.recover()
    assert sent_wakeups == [("judge.delete_session", (session.pk,))]


def test_what_was_not_deleted_loses_no_row(make_session: MakeSession) -> None:
    session = make_session(comparison_mode="round_robin")
    with pytest.raises(ActionRefused):
        delete_session(session.pk)
    assert not delete_for_a_while(session.pk)
    assert JudgeComparison.objects.filter(session=session).count() == 32


def test_the_plan_of_a_deleted_session_is_not_written_on(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "AT_ONCE", 10)
    monkeypatch.setattr(writing, "PART", 16)
    session = make_session(is_started=False, comparison_mode="free_for_all")
    assert write_for_a_while(session.pk, seconds=0)
    frame = read_frame(session)
    rest = list(plan_pairs(frame.config, frame.threads))[8:12]
    delete_session(session.pk)
    assert not append(frame, rest), "a part that was planned just before"
    assert not unwritten().exists()
    assert not write_for_a_while(session.pk)
    assert JudgeComparison.objects.filter(session=session).count() == 16
    while delete_for_a_while(session.pk):
        pass
    assert not JudgeSession.objects.exists()


def test_nobody_moves_a_session_that_was_deleted_a_moment_ago(make_session: MakeSession, sent_wakeups: Sent) -> None:
    session = make_session(is_started=False, comparison_mode="round_robin")
    delete_session(session.pk)
    sent_wakeups.clear()
    for act in (control.start, control.abort, delete_session):
        with pytest.raises(JudgeSession.DoesNotExist):
            act(session.pk)
    assert not refresh_results(session.pk)
    JudgeSession.objects.filter(pk=session.pk).update(completed_comparisons=3)
    recovery.recover()
    assert sent_wakeups == []
