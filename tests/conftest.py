"""Fixtures that several parts share: the simulated judge, its model, and small planned sessions."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from judge.models import JudgeModel, JudgeSession
from judge.services import control, recovery
from judge.services.briefs import forget_briefs
from judge.services.planning.configuration import SessionConfig
from judge.services.providers import simulated_model
from judge.services.sessions import create_session
from judge.services.texts import forget_texts
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests import quick_reset
from tests.pillars.factories import EmailThreadFactory, PillarFactory
from tests.services.schedule import HeavyTogether, is_heavy

quick_reset.install()

MakeSession = Callable[..., JudgeSession]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> HeavyTogether:
    """How tests are handed out to several processes."""
    return HeavyTogether(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Heavy tests first; the order of all others matters and stays (those that empty the database come last)."""
    items.sort(key=lambda item: not is_heavy(item.nodeid))


@pytest.fixture(autouse=True)
def no_old_briefs() -> None:
    """What a lane of another test kept in mind belongs to another database."""
    forget_briefs()
    forget_texts()


@pytest.fixture(autouse=True)
def long_running_database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database of the tests was started a moment ago; recovery would wait for signs of life of lanes of before."""
    if "young_database" not in request.fixturenames:
        monkeypatch.setattr(recovery, "database_has_just_started", lambda: False)


@pytest.fixture
def young_database(settings: Settings) -> None:
    """The database was started less than a heartbeat ago, whenever that was."""
    settings.JUDGE_HEARTBEAT_SECONDS = 30 * 24 * 3600


@pytest.fixture
def server() -> Iterator[SimulatedServer]:
    """The simulated judge over HTTP, counting and recording its calls."""
    with SimulatedServer(SimulatedSettings()) as running:
        yield running


@pytest.fixture
def model(transactional_db: None, server: SimulatedServer) -> JudgeModel:
    """The judge model behind the simulated server."""
    return simulated_model(server.base_url)


@pytest.fixture
def owner(transactional_db: None) -> User:
    """Whose sessions these are."""
    return User.objects.create_user("example-owner", password="example-password")


@pytest.fixture
def make_session(owner: User, model: JudgeModel) -> MakeSession:
    """Create a session over two pillars of four threads each; started unless told otherwise."""

    def make(*, is_started: bool = True, threads: int = 4, **choices: object) -> JudgeSession:
        for number in (1, 2):
            pillar = PillarFactory(number=number)
            for _ in range(threads - pillar.threads.count()):
                EmailThreadFactory(pillar=pillar)
        values: dict[str, object] = {
            "name": "Example session",
            "pillar_ids": (1, 2),
            "judge_model_ids": (model.pk,),
            "samples_per_pillar": threads,
            "seed": 7,
        }
        session = create_session(owner, SessionConfig(**(values | choices)))  # type: ignore[arg-type]
        return control.start(session.pk) if is_started else session

    return make
