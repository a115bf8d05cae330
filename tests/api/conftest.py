"""People with their clients, and a session with verdicts."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from judge.models import JudgeModel, JudgeSession
from judge.services import wakeups
from tests.factories import JudgeModelFactory, SessionFactory, StaffFactory, UserFactory, judged, running


@pytest.fixture(autouse=True)
def sent_wakeups(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, ...]]]:
    """Wake-ups are noted instead of sent: no worker runs here."""
    sent: list[tuple[str, tuple[int, ...]]] = []
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: sent.append((task, ids)))
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


def client_of(user: User | None) -> APIClient:
    """A client logged in as the person."""
    client = APIClient()
    if user is not None:
        client.force_login(user)
    return client


@pytest.fixture
def client(owner: User) -> APIClient:
    """The owner's client."""
    return client_of(owner)


CountQueries = Callable[[APIClient, str], int]


@pytest.fixture
def count_queries() -> CountQueries:
    """How many queries one GET takes, with everything cached that a first one caches."""

    def count(client: APIClient, address: str) -> int:
        assert client.get(address).status_code == 200
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        return len(queries)

    return count
