"""Faults of providers, played to whole lanes: quick retries, and what watchers hear is kept."""

import json

import pytest

from judge import events
from judge.domain.retry import RetryPolicy
from judge.services import deliberation, foreground, lanes, turns
from tests.queue.conftest import not_stopping, sent_wakeups

__all__ = ["not_stopping", "sent_wakeups"]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delays of hundredths of a second instead of seconds; rests and rates of providers are as they are."""
    monkeypatch.setattr(deliberation, "POLICY", RetryPolicy(base_delay=0.02))
    monkeypatch.setattr(turns, "SPREAD_SECONDS", 0.05)
    monkeypatch.setattr(lanes, "SPREAD_SECONDS", 0.05)
    monkeypatch.setattr(foreground, "RECOVER_EVERY", 0.2)


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[events.Event]:
    """What watchers hear, in order, each as it can be sent."""
    news: list[events.Event] = []

    def hear(*some: events.Event) -> None:
        for event in some:
            json.dumps(event.payload()).encode()
            news.append(event)

    monkeypatch.setattr(events, "publish", hear)
    monkeypatch.setattr(events, "publish_soon", hear)
    return news
