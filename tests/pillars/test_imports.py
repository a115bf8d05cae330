"""The import: one transaction, all or nothing, and the same letters are one thread."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError

from pillars.models import EmailThread, ImportBatch, Message, PillarThread
from pillars.services import imports
from pillars.services.imports import ImportRefused, import_threads
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db


def record(number: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"t{number}",
        "subject": f"Example {number}",
        "messages": [
            {"role": "client", "content": f"Example question {number}"},
            {"role": "counsellor", "content": "Example answer of five words"},
        ],
        **changes,
    }


def as_file(*records: Any) -> bytes:
    return json.dumps(records).encode()


def refused(data: bytes, pillar: Any, **options: Any) -> ImportRefused:
    with pytest.raises(ImportRefused) as caught:
        import_threads(data, "threads.json", pillar, **options)
    return caught.value


def test_threads_are_stored_with_counts_letters_and_their_import() -> None:
    pillar, user = PillarFactory(), User.objects.create(username="example")
    times = [{"role": "client", "content": "a b", "sender": "X", "sent_at": "2024-01-05T12:00:00"}]
    data = as_file(record(1), record(2, language="en", extra=1, messages=times))
    done = import_threads(data, "threads.json", pillar, user=user, source="Example source")
    assert (done.added, done.assigned, done.known) == (2, 0, 0)
    first, second = EmailThread.objects.order_by("pk")
    assert (first.external_id, first.subject, first.language, first.source) == (
        "t1",
        "Example 1",
        "de",
        "Example source",
    )
    assert (first.message_count, first.word_count) == (2, 8)
    assert (first.counsellor_word_count, first.client_word_count) == (5, 3)
    assert (second.language, second.metadata) == ("en", {"extra": 1})
    assert [(m.position, m.role) for m in first.messages.all()] == [(0, "client"), (1, "counsellor")]
    letter = second.messages.get()
    assert (letter.sender, letter.sent_at) == ("X", datetime(2024, 1, 5, 11, tzinfo=UTC))  # Berlin, in winter
    assert set(pillar.threads.all()) == {first, second}
    batch = ImportBatch.objects.get()
    assert first.import_batch == done.batch == batch
    assert (batch.status, batch.format, batch.imported_by, batch.problems) == ("imported", "json_list", user, [])
    assert (batch.threads_added, batch.threads_assigned, batch.threads_known) == (2, 0, 0)


def test_the_same_file_twice_adds_nothing() -> None:
    pillar, data = PillarFactory(), as_file(record(1), record(2))
    import_threads(data, "threads.json", pillar)
    again = import_threads(data, "renamed.json", pillar)
    assert (again.added, again.assigned, again.known) == (0, 0, 2)
    assert (EmailThread.objects.count(), Message.objects.count(), PillarThread.objects.count()) == (2, 4, 2)


def test_known_letters_are_put_into_another_pillar_without_a_copy() -> None:
    first, second = PillarFactory(), PillarFactory()
    import_threads(as_file(record(1)), "a.json", first)
    done = import_threads(as_file(record(1, id="other-id"), record(2)), "b.json", second)
    assert (done.added, done.assigned, done.known) == (1, 1, 0)
    thread = EmailThread.objects.get(external_id="t1")
    assert set(thread.pillars.all()) == {first, second}


def test_the_same_letters_twice_in_a_file_are_one_thread() -> None:
    done = import_threads(as_file(record(1), record(1, id="t9")), "a.json", PillarFactory())
    assert (done.added, done.known) == (1, 1)
    assert EmailThread.objects.get().external_id == "t1"


def test_a_broken_thread_refuses_the_whole_file_and_leaves_only_the_record() -> None:
    pillar = PillarFactory()
    refusal = refused(as_file(record(1), record(2, messages=[])), pillar)
    assert [(p.row, p.field) for p in refusal.problems] == [(2, "messages")]
    assert not EmailThread.objects.exists()
    batch = ImportBatch.objects.get()
    assert batch == refusal.batch
    assert (batch.status, batch.threads_added) == ("refused", 0)
    assert [(p["row"], p["field"]) for p in batch.problems] == [(2, "messages")]


def test_an_id_of_the_pillar_with_another_text_is_a_problem_and_changes_nothing() -> None:
    pillar = PillarFactory()
    kept = EmailThreadFactory(external_id="t2", pillar=pillar)
    refusal = refused(as_file(record(1), record(2)), pillar)
    assert [(p.row, p.field, p.code) for p in refusal.problems] == [(2, "id", "id_known")]
    assert list(EmailThread.objects.all()) == [kept]
    assert ImportBatch.objects.get().status == "refused"


def test_an_id_of_another_pillar_is_no_problem() -> None:
    EmailThreadFactory(external_id="t1", pillar=PillarFactory())
    assert import_threads(as_file(record(1)), "a.json", PillarFactory()).added == 1


def test_all_contradicting_ids_are_named_across_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "THREADS_AT_ONCE", 2)
    pillar = PillarFactory()
    for number in (1, 4):
        EmailThreadFactory(external_id=f"t{number}", pillar=pillar)
    refusal = refused(as_file(*map(record, range(5))), pillar)
    assert [p.row for p in refusal.problems] == [2, 5]


def test_portions_keep_the_order_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "THREADS_AT_ONCE", 2)
    monkeypatch.setattr(imports, "ROWS_AT_ONCE", 3)
    assert import_threads(as_file(*map(record, range(5))), "a.json", PillarFactory()).added == 5
    assert list(EmailThread.objects.values_list("external_id", flat=True)) == [f"t{n}" for n in range(5)]
    assert Message.objects.count() == 10


def test_only_the_threads_of_one_label_are_taken() -> None:
    pillar = PillarFactory()
    data = as_file(record(1, pillar="good"), record(2, pillar="bad"), record(3))
    assert import_threads(data, "a.json", pillar, only_label="good").added == 1
    assert EmailThread.objects.get().external_id == "t1"
    assert [p.code for p in refused(data, pillar, only_label="neither").problems] == ["no_such_label"]


def test_language_is_the_callers_where_the_file_has_none() -> None:
    import_threads(as_file(record(1), record(2, language="de")), "a.json", PillarFactory(), language="en")
    assert list(EmailThread.objects.values_list("language", flat=True)) == ["en", "de"]


def test_an_unknown_language_is_the_callers_mistake() -> None:
    with pytest.raises(ValueError, match="language"):
        import_threads(as_file(record(1)), "a.json", PillarFactory(), language="fr")


@pytest.mark.parametrize(
    ("given_name", "stored"),
    [
        ("C:\\x\\a.json", "a.json"),
        ("../../a.json", "a.json"),
        ("a\x00\n.json", "a.json"),
        ("", "-"),
        ("x" * 300, "x" * 255),
    ],
)
def test_file_names_are_stored_without_path_and_control_characters(given_name: str, stored: str) -> None:
    assert import_threads(as_file(record(1)), given_name, PillarFactory()).batch.file_name == stored


def test_an_import_that_loses_a_race_for_the_same_letters_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other import commits between the look for known letters and the insert."""
    pillar, other = PillarFactory(), PillarFactory()
    attempts: list[int] = []
    original = imports._Writer.write

    def write(self: Any, threads: Any) -> Any:
        attempts.append(1)
        if len(attempts) == 1:
            raise IntegrityError("as the unique key does")
        return original(self, threads)

    import_threads(as_file(record(1)), "a.json", other)
    monkeypatch.setattr(imports._Writer, "write", write)
    done = import_threads(as_file(record(1)), "a.json", pillar)
    assert (len(attempts), done.assigned, EmailThread.objects.count()) == (2, 1, 1)


def test_threads_are_written_many_at_once(django_assert_max_num_queries: Any) -> None:
    pillar = PillarFactory()
    with django_assert_max_num_queries(20):
        import_threads(as_file(*map(record, range(200))), "a.json", pillar)
