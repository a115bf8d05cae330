"""Pillars, threads and imports in the admin."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from pillars.content import content_hash
from pillars.models import EmailThread, ImportBatch, Pillar
from pillars.services.imports import ImportRefused, import_threads
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db

THREADS = "/admin/pillars/emailthread/"
IMPORT = f"{THREADS}import/"


@pytest.fixture
def client(admin_client: Client) -> Client:
    admin_client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return admin_client


def form_of(thread: EmailThread | None, letters: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """The form of a thread as the browser sends it, with its letters and without pillars."""
    known = [letter for letter in letters if "id" in letter]
    form: dict[str, Any] = {
        "external_id": thread.external_id if thread else "new",
        "subject": thread.subject if thread else "New",
        "language": "de",
        "source": "",
        "metadata": "{}",
        "memberships-TOTAL_FORMS": 0,
        "memberships-INITIAL_FORMS": 0,
        "messages-TOTAL_FORMS": len(letters),
        "messages-INITIAL_FORMS": len(known),
        **fields,
    }
    for place, letter in enumerate(letters):
        for name, value in {"role": "client", "sender": "", **letter}.items():
            form[f"messages-{place}-{name}"] = value
        form[f"messages-{place}-thread"] = thread.pk if thread else ""
    return form


def letters_of(thread: EmailThread) -> list[dict[str, Any]]:
    return [{"id": m.pk, "role": m.role, "content": m.content.replace("\n", "\r\n")} for m in thread.messages.all()]


@pytest.mark.parametrize("size", [1, 20])
def test_lists_cost_the_same_queries_whatever_their_length(
    size: int, client: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(size):
        EmailThreadFactory(pillars=[PillarFactory(), PillarFactory(number=1)])
        with pytest.raises(ImportRefused):
            import_threads(b"[]", "a.json", Pillar.objects.get(number=1))
    for path, queries in ((THREADS, 9), ("/admin/pillars/pillar/", 6), ("/admin/pillars/importbatch/", 8)):
        with django_assert_max_num_queries(queries):
            assert client.get(path).status_code == 200


def test_threads_are_found_by_id_and_filtered_by_pillar(client: Client) -> None:
    pillar = PillarFactory()
    thread, other = EmailThreadFactory(pillar=pillar, external_id="findme"), EmailThreadFactory(external_id="not-this")
    for query in ("?q=findme", f"?pillars__id__exact={pillar.pk}"):
        page = client.get(THREADS + query).content.decode()
        assert thread.external_id in page
        assert other.external_id not in page
    assert IMPORT in page


def test_a_thread_is_created_with_its_letters(client: Client) -> None:
    letters = [{"content": "a b"}, {"role": "counsellor", "content": "c"}]
    response = client.post(f"{THREADS}add/", form_of(None, letters))
    assert response.status_code == 302, response.context["errors"]
    thread = EmailThread.objects.get()
    assert [(m.position, m.role, m.content) for m in thread.messages.all()] == [
        (0, "client", "a b"),
        (1, "counsellor", "c"),
    ]
    assert (thread.word_count, thread.counsellor_word_count) == (3, 1)
    assert thread.content_hash == content_hash("New", thread.messages.all())


def test_an_edited_letter_changes_counts_and_hash(client: Client) -> None:
    thread = EmailThreadFactory(letters=[("client", "a b"), ("counsellor", "c")])
    letters = letters_of(thread)
    letters[0]["content"] = "a b d"
    assert client.post(f"{THREADS}{thread.pk}/change/", form_of(thread, letters)).status_code == 302
    before = thread.content_hash
    thread.refresh_from_db()
    assert (thread.word_count, thread.client_word_count) == (4, 3)
    assert thread.content_hash != before


def test_saving_without_a_change_keeps_every_letter_as_it_was(client: Client) -> None:
    thread = EmailThreadFactory(letters=[("client", "  first\n second \n\n")])
    assert client.post(f"{THREADS}{thread.pk}/change/", form_of(thread, letters_of(thread))).status_code == 302
    before = thread.content_hash
    thread.refresh_from_db()
    assert thread.messages.get().content == "  first\n second \n\n"
    assert thread.content_hash == before


def test_letters_are_removed_and_appended_in_one_go(client: Client) -> None:
    thread = EmailThreadFactory(letters=[("client", "a"), ("counsellor", "b")])
    letters = letters_of(thread)
    letters[0]["DELETE"] = "on"
    letters.append({"content": "c"})
    assert client.post(f"{THREADS}{thread.pk}/change/", form_of(thread, letters)).status_code == 302
    thread.refresh_from_db()
    assert [m.content for m in thread.messages.all()] == ["b", "c"]
    assert thread.message_count == 2


def test_a_thread_without_letters_is_not_saved(client: Client) -> None:
    thread = EmailThreadFactory(letters=[("client", "a")])
    letters = letters_of(thread)
    letters[0]["DELETE"] = "on"
    assert client.post(f"{THREADS}{thread.pk}/change/", form_of(thread, letters)).status_code == 200
    assert client.post(f"{THREADS}add/", form_of(None, [])).status_code == 200
    assert EmailThread.objects.get().messages.count() == 1


def test_a_thread_cannot_become_the_same_as_another(client: Client) -> None:
    EmailThreadFactory(subject="s", letters=[("client", "a")])
    thread = EmailThreadFactory(subject="s", letters=[("client", "b")])
    letters = letters_of(thread)
    letters[0]["content"] = "a"
    response = client.post(f"{THREADS}{thread.pk}/change/", form_of(thread, letters))
    assert response.status_code == 200
    assert "exactly these letters" in response.content.decode()
    assert thread.messages.get().content == "b"


def test_a_file_is_imported(client: Client) -> None:
    data = json.dumps([{"id": "a", "messages": [{"role": "client", "content": "Example"}]}]).encode()
    form = {"pillar": 3, "language": "en", "file": SimpleUploadedFile("a.json", data)}
    response = client.post(IMPORT, form)
    assert "1 thread added" in response.content.decode()
    assert EmailThread.objects.get().pillars.get().number == 3
    assert ImportBatch.objects.get().imported_by is not None


def test_a_broken_file_is_told_row_by_row(client: Client) -> None:
    form = {"pillar": 3, "language": "en", "file": SimpleUploadedFile("a.json", b'[{"id": "a", "messages": []}]')}
    response = client.post(IMPORT, form)
    assert response.status_code == 200
    assert "A thread needs at least one message." in response.content.decode()
    assert not EmailThread.objects.exists()


def test_importing_needs_the_permission(django_user_model: Any) -> None:
    staff = django_user_model.objects.create_user("example-staff", is_staff=True)
    client = Client()
    client.force_login(staff)
    assert client.get(IMPORT).status_code == 403
    assert Client().get(IMPORT).status_code == 302


def test_imports_are_only_read(client: Client) -> None:
    with pytest.raises(ImportRefused) as caught:
        import_threads(b"[]", "a.json", Pillar.objects.get(number=1))
    page = f"/admin/pillars/importbatch/{caught.value.batch.pk}/"
    assert client.get(f"{page}change/").status_code == 200
    assert client.post(f"{page}change/", {"file_name": "b"}).status_code == 403
    assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert client.get("/admin/pillars/importbatch/add/").status_code == 403


def test_a_pillar_that_holds_threads_stays(client: Client) -> None:
    pillar = PillarFactory()
    EmailThreadFactory(pillar=pillar)
    client.post(f"/admin/pillars/pillar/{pillar.pk}/delete/", {"post": "yes"})
    assert Pillar.objects.filter(pk=pillar.pk).exists()
