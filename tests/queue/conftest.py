"""Queue tests run the lanes themselves: no message leaves the process."""

from collections.abc import Iterator

import pytest

from judge.services import leases, wakeups


@pytest.fixture(autouse=True)
def sent_wakeups(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[int, ...]]]:
    """Wake-ups are noted instead of sent: these tests decide themselves when a lane runs."""
    sent: list[tuple[str, tuple[int, ...]]] = []
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: sent.append((task, ids)))
    return sent


@pytest.fixture(autouse=True)
def not_stopping() -> Iterator[None]:
    """A test that ends its process's lanes does not end those of the next."""
    yield
    leases.STOPPING.clear()
