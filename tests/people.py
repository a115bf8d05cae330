"""Fixtures of the pages and of the API: an owner, a stranger, staff, and a session with verdicts."""

import pytest
from django.contrib.auth.models import User

from judge.models import JudgeModel, JudgeSession
from judge.services import wakeups
from tests.factories import JudgeModelFactory, SessionFactory, StaffFactory, UserFactory, judged, running


@pytest.fixture(autouse=True)
def sent_wakeups(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, ...]]]:
    """Wake-ups are noted instead of sent: no worker runs here."""
    sent: list[tuple[str, tuple[int, ...]]] = []

    def note(task: str, *ids: int) -> bool:
        sent.append((task, ids))
        return True

    monkeypatch.setattr(wakeups, "_send", note)
    return sent


@pytest.fixture
def model(db: None) -> JudgeModel:
    """The only judge model there is."""
    return JudgeModelFactory()


@pytest.fixture
def owner(db: None) -> User:
    """A researcher whose session this is."""
    return UserFactory()


@pytest.fixture
def stranger(db: None) -> User:
    """A researcher who has nothing to do with it."""
    return UserFactory()


@pytest.fixture
def staff(db: None) -> User:
    """Staff."""
    return StaffFactory()


@pytest.fixture
def session(owner: User, model: JudgeModel) -> JudgeSession:
    """A running session: two verdicts, one comparison in a lane, the rest waiting."""
    session = SessionFactory(owner=owner, model=model, status="running", worker_count=2)
    first, second, third = session.comparisons.order_by("queue_position")[:3]
    judged(first)
    judged(second, winner="TIE")
    running(third, worker_id=1)
    session.refresh_from_db()
    return session
