"""Putting known threads into a pillar, and keeping counts true after an edit."""

import pytest
from django.db import IntegrityError, transaction

from pillars.models import Pillar, PillarThread
from pillars.selectors import pillars_with_counts, threads_of_pillar
from pillars.services.assign import UnknownThreads, assign_threads
from pillars.services.threads import refresh_thread
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db


def test_threads_are_assigned_once() -> None:
    pillar, threads = PillarFactory(), [EmailThreadFactory() for _ in range(3)]
    assert assign_threads(pillar, [threads[0].pk]) == 1
    assert assign_threads(pillar, [thread.pk for thread in threads]) == 2
    assert assign_threads(pillar, [thread.pk for thread in threads]) == 0
    assert list(threads_of_pillar(pillar)) == threads


def test_an_unknown_id_assigns_nothing() -> None:
    pillar, thread = PillarFactory(), EmailThreadFactory()
    with pytest.raises(UnknownThreads) as caught:
        assign_threads(pillar, [thread.pk, thread.pk + 1000])
    assert caught.value.thread_ids == [thread.pk + 1000]
    assert not PillarThread.objects.exists()


def test_an_edited_thread_gets_new_counts_and_a_new_hash() -> None:
    thread = EmailThreadFactory(letters=[("client", "a b"), ("counsellor", "c")])
    before = thread.content_hash
    thread.messages.filter(position=0).update(content="a b d e")
    refresh_thread(thread)
    thread.refresh_from_db()
    assert (thread.word_count, thread.client_word_count, thread.counsellor_word_count) == (5, 4, 1)
    assert thread.content_hash != before


def test_an_edit_that_makes_two_threads_equal_is_refused() -> None:
    first = EmailThreadFactory(subject="s", letters=[("client", "a")])
    second = EmailThreadFactory(subject="s", letters=[("client", "b")])
    second.messages.update(content="a")
    with pytest.raises(IntegrityError), transaction.atomic():
        refresh_thread(second)
    first.refresh_from_db()
    assert first.messages.get().content == "a"


def test_five_pillars_are_there_from_the_start_and_are_counted() -> None:
    EmailThreadFactory(pillars=[PillarFactory(number=1), PillarFactory(number=3)])
    found = [(p.number, p.name_de, p.color, p.thread_count) for p in pillars_with_counts()]
    assert found == [
        (1, "Rollenspiele", "red", 1),
        (2, "Feature aus Säule 1", "orange", 0),
        (3, "Anonymisierte Daten", "green", 1),
        (4, "Synthetisch generiert", "blue", 0),
        (5, "Live-Testungen", "purple", 0),
    ]


def test_a_pillar_speaks_the_readers_language(settings: object) -> None:
    from django.utils.translation import override

    pillar = Pillar.objects.get(number=1)
    with override("de"):
        assert str(pillar) == "1 Rollenspiele"
    with override("en"):
        assert str(pillar) == "1 Role plays"
