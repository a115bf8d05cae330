"""Every read of pillars and threads that is more than one row."""

from django.db.models import PROTECT, Count, ManyToOneRel, Prefetch, QuerySet

from pillars.models import EmailThread, Message, Pillar


def pillars_with_counts() -> QuerySet[Pillar]:
    """All pillars by number, each with ``thread_count``."""
    return Pillar.objects.annotate(thread_count=Count("memberships")).order_by("number")


def threads_of_pillar(pillar: Pillar) -> QuerySet[EmailThread]:
    """The threads of a pillar in the order they came in. Messages are not loaded: lists need only the counts."""
    return EmailThread.objects.filter(memberships__pillar=pillar).order_by("pk")


def threads_with_messages() -> QuerySet[EmailThread]:
    """Threads with their messages in order and their pillars, for reading: three queries, however many there are."""
    return EmailThread.objects.prefetch_related(
        Prefetch("messages", Message.objects.order_by("position")),
        Prefetch("pillars", Pillar.objects.order_by("number")),
    )


def is_held(thread: EmailThread) -> bool:
    """Whether something refers to the thread that must not lose it, as a pair of a session does.

    Asked of the model's own relations, so that pillars need not know who refers to them.
    """
    relations = EmailThread._meta.get_fields(include_hidden=True)
    holders = [rel for rel in relations if isinstance(rel, ManyToOneRel) and rel.on_delete is PROTECT]
    return any(rel.related_model._default_manager.filter(**{rel.field.name: thread}).exists() for rel in holders)
