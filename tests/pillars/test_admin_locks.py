"""Threads in the admin: letters that a session compares stay as they are, metadata is what a database can hold."""

from typing import Any

import pytest
from django.test import Client

from pillars.models import EmailThread
from tests.factories import SessionFactory
from tests.pillars.factories import EmailThreadFactory
from tests.pillars.test_admin import THREADS, form_of, letters_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def compared(db: None) -> EmailThread:
    """A thread that a planned session compares."""
    return SessionFactory().pairs.first().thread_a


def change(client: Client, thread: EmailThread, letters: list[dict[str, Any]], **fields: Any) -> Any:
    return client.post(f"{THREADS}{thread.pk}/change/", form_of(thread, letters, **fields))


def test_letters_and_subject_of_a_compared_thread_cannot_be_changed(
    admin_client: Client, compared: EmailThread
) -> None:
    before = (compared.subject, compared.content_hash, list(compared.messages.values_list("content", flat=True)))
    letters = letters_of(compared)
    letters[0]["content"] = "Another text."
    letters.append({"content": "One more letter."})
    change(admin_client, compared, letters, subject="Another subject", language="en")
    compared.refresh_from_db()
    after = (compared.subject, compared.content_hash, list(compared.messages.values_list("content", flat=True)))
    assert after == before


def test_a_compared_thread_can_still_be_filed(admin_client: Client, compared: EmailThread) -> None:
    answer = change(admin_client, compared, letters_of(compared), source="Example source")
    assert answer.status_code == 302
    compared.refresh_from_db()
    assert compared.source == "Example source"


def test_a_thread_that_nothing_compares_can_be_changed(admin_client: Client) -> None:
    thread = EmailThreadFactory()
    answer = change(admin_client, thread, letters_of(thread), subject="Another subject")
    assert answer.status_code == 302
    thread.refresh_from_db()
    assert thread.subject == "Another subject"


@pytest.mark.parametrize(
    "metadata", ["null", "[1]", '{"a": NaN}', '{"a": "\\u0000"}', '{"a": "\\ud800"}', "[" * 100_000]
)
def test_metadata_that_cannot_be_stored_is_refused_on_the_form(admin_client: Client, metadata: str) -> None:
    thread = EmailThreadFactory(metadata={"kept": 1})
    answer = change(admin_client, thread, letters_of(thread), metadata=metadata)
    assert answer.status_code == 200
    assert answer.context["adminform"].errors["metadata"]
    thread.refresh_from_db()
    assert thread.metadata == {"kept": 1}
