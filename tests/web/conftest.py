"""People with browsers that speak English."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.people import model, owner, sent_wakeups, session, staff, stranger

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
