"""Three pillars of ten threads, and a researcher who plans with them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import translation

from judge.models import JudgeModel
from judge.services.planning.configuration import SessionConfig
from tests.people import model, owner, sent_wakeups
from tests.pillars.factories import EmailThreadFactory, PillarFactory

__all__ = ["model", "owner", "sent_wakeups"]

MakeConfig = Callable[..., SessionConfig]


def fill(number: int, threads: int, letters: list[tuple[str, str]] | None = None) -> list[int]:
    """Put threads into a pillar; returns their ids."""
    pillar = PillarFactory(number=number)
    return [EmailThreadFactory(pillar=pillar, letters=letters).pk for _ in range(threads)]


@pytest.fixture(autouse=True)
def in_german() -> Iterator[None]:
    """The language of these tests, whatever a request of another test left behind."""
    with translation.override("de"):
        yield


@pytest.fixture
def config(owner: User, model: JudgeModel) -> MakeConfig:
    """A configuration of pillars 1, 3 and 5 with the only judge and a seed, but for what is named."""

    def make(**choices: Any) -> SessionConfig:
        chosen: dict[str, Any] = {"name": "Example", "pillar_ids": (1, 3, 5), "judge_model_ids": (model.pk,), "seed": 4}
        return SessionConfig(**(chosen | choices))

    return make


@pytest.fixture
def ten_each(db: None) -> None:
    """Pillars 1, 3 and 5 with ten threads each."""
    for number in (1, 3, 5):
        fill(number, 10)
