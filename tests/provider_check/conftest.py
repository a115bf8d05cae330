"""Tests of providers: what would be sent to a worker is noted, unless a test says otherwise."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from django.contrib.auth.models import User

from judge.models import JudgeModel, ProviderCheck
from judge.services import wakeups
from judge.services.provider_check import request_check
from judge.services.providers import simulated_model
from judge.simulated.server import SimulatedServer

Ask = Callable[..., ProviderCheck]
Sent = list[tuple[str, tuple[int, ...]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """The messages that went out, as (task, ids)."""
    messages: Sent = []

    def note(task: str, *ids: int) -> bool:
        messages.append((task, ids))
        return True

    monkeypatch.setattr(wakeups, "_send", note)
    return messages


@pytest.fixture
def tested(db: None, server: SimulatedServer) -> JudgeModel:
    """The judge model behind the simulated server, in a transaction that ends with the test."""
    return simulated_model(server.base_url)


@pytest.fixture
def person(db: None) -> User:
    """Who asks for tests."""
    return User.objects.create_user("example-owner", password="example-password")


@pytest.fixture
def ask(django_capture_on_commit_callbacks: Callable[..., AbstractContextManager[object]]) -> Ask:
    """Ask for a test, as if the request's transaction had been committed."""

    def request(*arguments: object) -> ProviderCheck:
        with django_capture_on_commit_callbacks(execute=True):
            return request_check(*arguments)  # type: ignore[arg-type]

    return request
