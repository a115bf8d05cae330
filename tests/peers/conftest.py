"""What judging notes instead of sending."""

import pytest

from judge.services import wakeups


@pytest.fixture(autouse=True)
def no_wakeups(monkeypatch: pytest.MonkeyPatch) -> None:
    """No message leaves the process: these tests run the lanes themselves."""
    monkeypatch.setattr(wakeups, "_send", lambda task, *ids: None)
