"""Pillars and threads for tests. The letters are obvious examples."""

from collections.abc import Sequence
from typing import Any

import factory
from factory.django import DjangoModelFactory

from pillars.content import content_hash
from pillars.models import EmailThread, Message, Pillar, PillarThread
from pillars.services.threads import refresh_thread

Letters = Sequence[tuple[str, str]]


class PillarFactory(DjangoModelFactory):
    """A pillar; numbers 1 to 5 are there from the migration, ``PillarFactory(number=1)`` gives that one."""

    class Meta:
        model = Pillar
        django_get_or_create = ("number",)

    number = factory.Sequence(lambda n: n + 6)
    name = factory.LazyAttribute(lambda pillar: f"Example pillar {pillar.number}")
    name_de = factory.LazyAttribute(lambda pillar: f"Beispielsäule {pillar.number}")
    color = "teal"


class EmailThreadFactory(DjangoModelFactory):
    """A thread with messages, right counts and hash.

    ``letters``: ``[(role, content), ...]``, two that no other thread has by default. ``pillar`` / ``pillars``: where it
    belongs, nowhere by default.
    """

    class Meta:
        model = EmailThread

    external_id = factory.Sequence(lambda n: f"example-{n}")
    subject = factory.Sequence(lambda n: f"Example subject {n}")
    language = "de"

    @classmethod
    def _create(cls, model_class: type[EmailThread], *args: Any, **kwargs: Any) -> EmailThread:
        letters: Letters | None = kwargs.pop("letters", None)
        pillar, pillars = kwargs.pop("pillar", None), kwargs.pop("pillars", ())
        if letters is None:
            letters = [
                ("client", f"Example question of {kwargs['external_id']}"),
                ("counsellor", f"Example answer to {kwargs['external_id']} in a few more words"),
            ]
        messages = [Message(position=place, role=role, content=text) for place, (role, text) in enumerate(letters)]
        thread = model_class.objects.create(content_hash=content_hash(kwargs["subject"], messages), **kwargs)
        for message in messages:
            message.thread = thread
        Message.objects.bulk_create(messages)
        refresh_thread(thread)
        for home in [pillar, *pillars] if pillar else pillars:
            PillarThread.objects.create(pillar=home, thread=thread)
        return thread
