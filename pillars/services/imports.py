"""Threads in: one file, one transaction, all or nothing."""

import ntpath
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError, transaction
from django.utils import timezone

from pillars.content import content_hash, measure
from pillars.models import EmailThread, ImportBatch, Language, Message, Pillar, PillarThread
from pillars.readers.base import MAX_PROBLEMS, WHOLE_FILE, Problem, ProblemCode, ReadResult, ReadThread
from pillars.readers.detect import read

THREADS_AT_ONCE = 500
ROWS_AT_ONCE = 500
_TRIES = 3


@dataclass(frozen=True)
class ImportOutcome:
    """What came of an import: new threads, known ones newly put into the pillar, ones the pillar already held."""

    batch: ImportBatch
    added: int
    assigned: int
    known: int
    problems: tuple[Problem, ...] = ()


class ImportRefused(Exception):
    """Nothing was imported; ``problems`` say where and why, ``batch`` is the stored record of the refusal."""

    def __init__(self, problems: Sequence[Problem], batch: ImportBatch) -> None:
        super().__init__(f"import refused: {len(problems)} problems")
        self.problems = tuple(problems)
        self.batch = batch


class _Conflict(Exception):
    """Threads of the file contradict threads of the pillar."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__()
        self.problems = tuple(problems)


def import_threads(
    data: bytes,
    file_name: str,
    pillar: Pillar,
    *,
    user: AbstractBaseUser | AnonymousUser | None = None,
    language: str | None = None,
    source: str = "",
    only_label: str | None = None,
) -> ImportOutcome:
    """Import a file into a pillar.

    A thread whose letters are already known is not stored again, only put into the pillar; so the same file twice adds
    nothing. ``language`` (default German) is for threads that name none. ``only_label`` takes just the threads whose
    ``pillar`` in the file is this label, for files that hold several pillars; the whole file is checked all the same.

    Raises:
        ImportRefused: any thread breaks a rule; only a refused ImportBatch is left.
        ValueError: ``language`` is not one we know.
    """
    language = language or Language.GERMAN.value
    if language not in Language.values:
        raise ValueError("unknown language")
    result = read(data, file_name)
    record = ImportBatch(
        pillar=pillar,
        file_name=_plain_name(file_name),
        format=result.format,
        imported_by=user if user is not None and user.is_authenticated else None,  # type: ignore[misc]  # the configured model
    )
    threads, problems = _chosen(result, only_label)
    if not problems:
        try:
            return _store(record, threads, language, source[:200])
        except _Conflict as conflict:
            problems = conflict.problems
    record.pk, record.status = None, ImportBatch.Status.REFUSED
    record.threads_added = record.threads_assigned = record.threads_known = 0
    record.problems = [problem.as_dict() for problem in problems]
    record.save(force_insert=True)
    raise ImportRefused(problems, record)


def _plain_name(file_name: str) -> str:
    name = ntpath.basename(posixpath.basename(file_name))
    return "".join(letter for letter in name if letter.isprintable())[-255:] or "-"


def _chosen(result: ReadResult, only_label: str | None) -> tuple[Sequence[ReadThread], Sequence[Problem]]:
    if result.problems or only_label is None:
        return result.threads, result.problems
    threads = [thread for thread in result.threads if thread.pillar_label == only_label.strip()]
    return threads, () if threads else (Problem(WHOLE_FILE, "pillar", ProblemCode.NO_SUCH_LABEL),)


def _store(record: ImportBatch, threads: Sequence[ReadThread], language: str, source: str) -> ImportOutcome:
    # Race: two imports of the same letters at once, into different pillars. The unique hash lets one win; the other
    # begins again and then finds them known. Imports into the same pillar wait for each other at its lock.
    for tries_left in reversed(range(_TRIES)):
        try:
            with transaction.atomic():
                Pillar.objects.select_for_update().get(pk=record.pillar_id)
                return _Writer(record, language, source).write(threads)
        except IntegrityError:
            if not tries_left:
                raise
    raise AssertionError("unreachable")


class _Writer:
    """Writes the threads of one import inside the caller's transaction."""

    def __init__(self, record: ImportBatch, language: str, source: str) -> None:
        self.record = record
        self.pillar = record.pillar
        self.language = language
        self.source = source
        self.added = self.assigned = self.known = 0
        self.conflicts: list[Problem] = []

    def write(self, threads: Sequence[ReadThread]) -> ImportOutcome:
        self.record.pk, self.record.status = None, ImportBatch.Status.IMPORTED
        self.record.save(force_insert=True)
        for some in _portions(threads):
            self._write_portion({content_hash(thread.subject, thread.messages): thread for thread in reversed(some)})
        if self.conflicts:
            raise _Conflict(self.conflicts[:MAX_PROBLEMS])
        self.known = len(threads) - self.added - self.assigned
        self.record.threads_added, self.record.threads_assigned = self.added, self.assigned
        self.record.threads_known = self.known
        self.record.save(update_fields=["threads_added", "threads_assigned", "threads_known"])
        return ImportOutcome(self.record, self.added, self.assigned, self.known)

    def _write_portion(self, by_hash: dict[str, ReadThread]) -> None:
        self._find_conflicts(by_hash)
        if self.conflicts:
            return  # read on, to name them all; what was written is rolled back
        ids = dict(EmailThread.objects.filter(content_hash__in=by_hash).values_list("content_hash", "pk"))
        held = set(
            PillarThread.objects.filter(pillar=self.pillar, thread__in=ids.values()).values_list("thread_id", flat=True)
        )
        to_assign = [pk for pk in ids.values() if pk not in held]
        new = [(key, thread) for key, thread in reversed(by_hash.items()) if key not in ids]
        created = EmailThread.objects.bulk_create([self._thread_row(key, thread) for key, thread in new])
        letters = (
            Message(
                thread=row,
                position=position,
                role=message.role,
                sender=message.sender,
                content=message.content,
                sent_at=_aware(message.sent_at),
            )
            for row, (_key, thread) in zip(created, new, strict=True)
            for position, message in enumerate(thread.messages)
        )
        while some := list(islice(letters, ROWS_AT_ONCE)):
            Message.objects.bulk_create(some)
        PillarThread.objects.bulk_create(
            [PillarThread(pillar=self.pillar, thread_id=pk) for pk in to_assign + [row.pk for row in created]]
        )
        self.added += len(created)
        self.assigned += len(to_assign)

    def _find_conflicts(self, by_hash: dict[str, ReadThread]) -> None:
        """Ids that the pillar holds with another text: to correct a thread is a decision, not an import."""
        known = EmailThread.objects.filter(
            memberships__pillar=self.pillar, external_id__in=[thread.external_id for thread in by_hash.values()]
        ).values_list("external_id", "content_hash")
        hashes: dict[str, set[str]] = {}
        for external_id, key in known:
            hashes.setdefault(external_id, set()).add(key)
        for key, thread in reversed(by_hash.items()):
            if thread.external_id in hashes and key not in hashes[thread.external_id]:
                self.conflicts.append(Problem(thread.row, "id", ProblemCode.ID_KNOWN))

    def _thread_row(self, key: str, thread: ReadThread) -> EmailThread:
        size = measure(thread.messages)
        return EmailThread(
            external_id=thread.external_id,
            subject=thread.subject,
            language=thread.language or self.language,
            source=self.source,
            metadata=thread.metadata,
            content_hash=key,
            message_count=size.messages,
            word_count=size.words,
            counsellor_word_count=size.counsellor_words,
            client_word_count=size.client_words,
            import_batch=self.record,
        )


def _portions(threads: Sequence[ReadThread]) -> Iterator[Sequence[ReadThread]]:
    for start in range(0, len(threads), THREADS_AT_ONCE):
        yield threads[start : start + THREADS_AT_ONCE]


def _aware(sent_at: datetime | None) -> datetime | None:
    """A time without a zone is the installation's local time."""
    return timezone.make_aware(sent_at) if sent_at is not None and timezone.is_naive(sent_at) else sent_at
