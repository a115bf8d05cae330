"""People with their clients."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from tests.people import model, owner, sent_wakeups, session, staff, stranger

__all__ = ["model", "owner", "sent_wakeups", "session", "staff", "stranger"]


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
