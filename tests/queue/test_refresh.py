"""Results are computed now and then while a session runs, once for all workers that ask, and always at its end."""

import pytest

from judge.models import JudgeSession, ResultSnapshot
from judge.services import refresh
from judge.services.lanes import run_lane
from judge.services.refresh import refresh_when_due
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


@pytest.fixture(autouse=True)
def no_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions of other tests have had the same ids."""
    monkeypatch.setattr(refresh, "_rests_until", {})


def seen(session: JudgeSession) -> int:
    return ResultSnapshot.objects.get(session=session).evaluations_seen


def test_a_second_worker_that_asks_at_once_finds_the_results_fresh(make_session: MakeSession) -> None:
    session = make_session()
    run_lane(session.pk, 0)
    assert refresh_when_due(session.pk) is True
    refresh._rests_until.clear()  # the other worker knows nothing of the first one's pause
    run_lane(session.pk, 0)
    assert refresh_when_due(session.pk) is False
    assert seen(session) == 1


def test_a_large_session_is_left_alone_for_longer(make_session: MakeSession, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_session()
    run_lane(session.pk, 0)
    monkeypatch.setattr(refresh, "REST_FACTOR", 1_000_000)
    assert refresh_when_due(session.pk) is True
    ResultSnapshot.objects.all().delete()
    assert refresh_when_due(session.pk) is False


def test_the_last_verdicts_are_never_left_out(make_session: MakeSession) -> None:
    session = make_session(threads=1)
    run_lane(session.pk, 0)
    assert refresh_when_due(session.pk) is True
    run_lane(session.pk, 0)
    session.refresh_from_db()
    assert session.status == "completed"
    assert refresh_when_due(session.pk) is True
    assert seen(session) == session.total_comparisons == 2


def test_a_session_that_is_gone_needs_no_results(make_session: MakeSession) -> None:
    session = make_session(is_started=False)
    gone = session.pk
    session.delete()
    assert refresh_when_due(gone) is False
