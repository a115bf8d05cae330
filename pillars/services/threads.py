"""Keeping what is derived from a thread's letters true after an edit."""

from django.db import transaction

from pillars.content import content_hash, measure
from pillars.models import EmailThread


@transaction.atomic
def refresh_thread(thread: EmailThread) -> None:
    """Recompute the counts and the content hash of a thread from its stored messages.

    Raises:
        IntegrityError: another thread already holds exactly these letters.
    """
    messages = list(thread.messages.order_by("position"))
    size = measure(messages)
    thread.content_hash = content_hash(thread.subject, messages)
    thread.message_count, thread.word_count = size.messages, size.words
    thread.counsellor_word_count, thread.client_word_count = size.counsellor_words, size.client_words
    thread.save(
        update_fields=[
            "content_hash",
            "message_count",
            "word_count",
            "counsellor_word_count",
            "client_word_count",
        ]
    )
