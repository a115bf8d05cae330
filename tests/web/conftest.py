"""People with browsers that speak English."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from judge.models import JudgeModel, Rubric
from tests.people import model, owner, sent_wakeups, session, staff, stranger
from tests.pillars.factories import EmailThreadFactory, PillarFactory

__all__ = ["model", "owner", "sent_wakeups", "session", "staff", "stranger"]


def browser_of(user: User | None, language: str = "en") -> Client:
    """A browser of a person who is logged in, or of nobody."""
    client = Client(headers={"accept-language": language})
    if user is not None:
        client.force_login(user)
    return client


@pytest.fixture
def reader(owner: User) -> Client:
    """The owner's browser."""
    return browser_of(owner)


@pytest.fixture
def form(model: JudgeModel) -> dict[str, Any]:
    """What a researcher fills in: two pillars of three threads."""
    for number in (1, 2):
        pillar = PillarFactory(number=number)
        for _ in range(3):
            EmailThreadFactory(pillar=pillar)
    return {
        "session_name": "Example plan",
        "pillar_ids": [1, 2],
        "comparison_mode": "pillar_sample",
        "sampling_strategy": "rotating",
        "samples_per_pillar": 3,
        "repetitions_per_pair": 2,
        "position_swap": "on",
        "worker_count": 4,
        "judge_model_ids": [model.pk],
        "language": "de",
        "rubric_id": Rubric.objects.get(is_default=True).pk,
        "seed": 11,
        "calculate_elo": "on",
    }
