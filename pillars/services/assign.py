"""Putting threads that exist into a pillar."""

from collections.abc import Iterable

from django.db import transaction

from pillars.models import EmailThread, Pillar, PillarThread


class UnknownThreads(Exception):
    """Some of the ids name no thread; nothing was assigned."""

    def __init__(self, thread_ids: Iterable[int]) -> None:
        self.thread_ids = sorted(thread_ids)
        super().__init__(f"{len(self.thread_ids)} unknown threads")


@transaction.atomic
def assign_threads(pillar: Pillar, thread_ids: Iterable[int]) -> int:
    """Put threads into a pillar and return how many were not in it before.

    Raises:
        UnknownThreads: an id does not exist.
    """
    wanted = set(thread_ids)
    unknown = wanted - set(EmailThread.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    if unknown:
        raise UnknownThreads(unknown)
    held = set(PillarThread.objects.filter(pillar=pillar, thread__in=wanted).values_list("thread_id", flat=True))
    # Race: somebody assigns the same threads now; the unique key decides, and both calls mean the same.
    PillarThread.objects.bulk_create(
        [PillarThread(pillar=pillar, thread_id=pk) for pk in sorted(wanted - held)], ignore_conflicts=True
    )
    return len(wanted - held)
