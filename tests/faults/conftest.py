"""Faults of providers, played to whole lanes: quick retries, and what watchers hear is kept."""

import json
import threading
from collections.abc import Iterator

import pytest

from judge import events
from judge.domain.retry import RetryPolicy
from judge.services import deliberation, foreground, lanes, leases, turns
from tests.queue.conftest import not_stopping, sent_wakeups

__all__ = ["not_stopping", "sent_wakeups"]


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Delays of hundredths of a second instead of seconds; rests and rates of providers are as they are."""
    monkeypatch.setattr(deliberation, "POLICY", RetryPolicy(base_delay=0.02))
    monkeypatch.setattr(turns, "SPREAD_SECONDS", 0.05)
    monkeypatch.setattr(lanes, "SPREAD_SECONDS", 0.05)
    monkeypatch.setattr(foreground, "RECOVER_EVERY", 0.2)


class Gate(threading.Event):
    """Until it is set, lanes that wait for their provider stay where they are. ``waiting``: how many waits began."""

    waiting = 0


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Lanes wait until the test opens it, and from then on for as long as they should."""
    opened, wait = Gate(), leases.Lease.wait

    def wait_at_the_gate(lease: leases.Lease, seconds: float) -> None:
        if opened.is_set():
            wait(lease, seconds)
        else:
            opened.waiting += 1
            opened.wait(60)

    monkeypatch.setattr(leases.Lease, "wait", wait_at_the_gate)
    yield opened
    opened.set()


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
