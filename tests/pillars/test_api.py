"""Pillars and threads over HTTP."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from pillars.models import EmailThread, ImportBatch
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db

BASE = "/api/judge"


def client_with(*permissions: str) -> APIClient:
    user = User.objects.create_user("example-user")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="pillars", codename__in=permissions))
    client = APIClient()
    client.force_authenticate(user)
    return client


def records(*names: str) -> list[dict[str, Any]]:
    return [{"id": name, "messages": [{"role": "client", "content": f"Example {name}"}]} for name in names]


def test_pillars_are_listed_with_their_counts() -> None:
    EmailThreadFactory(pillar=PillarFactory(number=2))
    answer = client_with().get(f"{BASE}/pillars/")
    assert answer.status_code == 200
    assert [(p["number"], p["thread_count"]) for p in answer.json()["results"]] == [
        (1, 0),
        (2, 1),
        (3, 0),
        (4, 0),
        (5, 0),
    ]
    assert set(answer.json()["results"][0]) == {"number", "name", "name_de", "description", "color", "thread_count"}


def test_a_pillar_is_found_by_number() -> None:
    client = client_with()
    assert client.get(f"{BASE}/pillars/4/").json()["name"] == "Synthetic"
    assert client.get(f"{BASE}/pillars/99/").status_code == 404


def test_threads_are_listed_page_by_page_without_letters() -> None:
    pillar = PillarFactory()
    threads = [EmailThreadFactory(pillar=pillar) for _ in range(3)]
    EmailThreadFactory(pillar=PillarFactory())
    answer = client_with("view_emailthread").get(f"{BASE}/pillars/{pillar.number}/threads/?page_size=2")
    body = answer.json()
    assert (body["count"], [t["id"] for t in body["results"]]) == (3, [t.pk for t in threads[:2]])
    assert body["results"][0]["word_count"] == threads[0].word_count
    assert "messages" not in body["results"][0]


@pytest.mark.parametrize("size", [1, 20])
def test_lists_cost_the_same_queries_whatever_their_length(size: int, django_assert_num_queries: Any) -> None:
    pillar = PillarFactory()
    for _ in range(size):
        EmailThreadFactory(pillar=pillar)
    client = client_with("view_emailthread")
    with django_assert_num_queries(2):
        client.get(f"{BASE}/pillars/")
    with django_assert_num_queries(5):  # permissions of the user and of groups, pillar, count, page
        client.get(f"{BASE}/pillars/{pillar.number}/threads/")


def test_a_thread_is_read_with_its_letters_in_order() -> None:
    pillar = PillarFactory()
    thread = EmailThreadFactory(pillar=pillar, letters=[("client", "first"), ("counsellor", "second")])
    body = client_with("view_emailthread").get(f"{BASE}/threads/{thread.pk}/").json()
    assert [(m["position"], m["role"], m["content"]) for m in body["messages"]] == [
        (0, "client", "first"),
        (1, "counsellor", "second"),
    ]
    assert body["pillars"] == [pillar.number]


def test_thread_texts_need_the_permission_to_view_them() -> None:
    thread = EmailThreadFactory(pillar=PillarFactory(number=1))
    client = client_with("add_emailthread")
    for path in ("/pillars/1/threads/", f"/threads/{thread.pk}/"):
        answer = client.get(BASE + path)
        assert answer.status_code == 403
        assert set(answer.json()) == {"error", "error_type", "details"}


def test_nobody_reads_or_writes_without_login() -> None:
    thread = EmailThreadFactory(pillar=PillarFactory(number=1))
    client = APIClient()
    for path in ("/pillars/", "/pillars/1/", "/pillars/1/threads/", f"/threads/{thread.pk}/"):
        assert client.get(BASE + path).status_code == 401
    for path in ("/pillars/1/import/", "/pillars/1/assign/"):
        assert client.post(BASE + path, [], format="json").status_code == 401


@pytest.mark.parametrize(
    "path", ["/pillars/99/threads/", "/threads/99999/", f"/threads/{10**30}/", "/pillars/0/threads/"]
)
def test_unknown_ids_are_not_found(path: str) -> None:
    answer = client_with("view_emailthread").get(BASE + path)
    assert answer.status_code == 404
    assert set(answer.json()) == {"error", "error_type", "details"}


def test_a_json_list_is_imported() -> None:
    client = client_with("add_emailthread")
    answer = client.post(f"{BASE}/pillars/1/import/?language=en", records("a", "b"), format="json")
    assert answer.status_code == 201
    batch = ImportBatch.objects.get()
    assert answer.json() == {"batch_id": batch.pk, "added": 2, "assigned": 0, "known": 0}
    assert batch.imported_by is not None
    assert set(EmailThread.objects.values_list("language", flat=True)) == {"en"}
    again = client.post(f"{BASE}/pillars/1/import/", records("a", "b"), format="json")
    assert (again.status_code, again.json()["known"]) == (201, 2)


def test_a_file_is_imported_with_its_options() -> None:
    threads = records("a", "b")
    threads[1]["pillar"] = "Example"
    file = SimpleUploadedFile("threads.json", json.dumps(threads).encode())
    form = {"file": file, "only_label": "Example", "language": "en", "source": "Example source"}
    answer = client_with("add_emailthread").post(f"{BASE}/pillars/2/import/", form, format="multipart")
    assert answer.status_code == 201, answer.content
    thread = EmailThread.objects.get()
    assert (thread.external_id, thread.language, thread.source) == ("b", "en", "Example source")
    assert ImportBatch.objects.get().file_name == "threads.json"


def test_a_refused_import_names_rows_and_changes_nothing() -> None:
    threads = records("a", "b")
    threads[1]["messages"] = []
    answer = client_with("add_emailthread").post(f"{BASE}/pillars/1/import/", threads, format="json")
    assert answer.status_code == 422
    body = answer.json()
    assert body["error_type"] == "import_refused"
    assert [(d["row"], d["field"], d["code"]) for d in body["details"]] == [(2, "messages", "no_messages")]
    assert all(d["message"] for d in body["details"])
    assert not EmailThread.objects.exists()


@pytest.mark.parametrize("body", [b"{", b" ", b'"text"', b"[]", b'[{"id": "\xe4"}]'])
def test_a_body_that_is_no_list_of_threads_is_refused_with_a_row(body: bytes) -> None:
    client = client_with("add_emailthread")
    answer = client.post(f"{BASE}/pillars/1/import/", body, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["details"][0]["row"] in (0, 1)


@pytest.mark.parametrize("query", ["language=fr", "source=" + "x" * 201])
def test_wrong_options_are_refused(query: str) -> None:
    answer = client_with("add_emailthread").post(f"{BASE}/pillars/1/import/?{query}", records("a"), format="json")
    assert answer.status_code == 400
    assert not EmailThread.objects.exists()


def test_a_form_without_a_file_and_an_empty_body_are_refused() -> None:
    client, url = client_with("add_emailthread"), f"{BASE}/pillars/1/import/"
    for answer in (
        client.post(url, {"language": "de"}, format="multipart"),
        client.post(url, b"", content_type="application/json"),
    ):
        assert answer.status_code == 400
        assert "file" in answer.json()["details"]


def test_importing_and_assigning_need_their_permissions() -> None:
    client = client_with("view_emailthread")
    assert client.post(f"{BASE}/pillars/1/import/", records("a"), format="json").status_code == 403
    thread = EmailThreadFactory()
    assert client.post(f"{BASE}/pillars/1/assign/", {"thread_ids": [thread.pk]}, format="json").status_code == 403
    assert not thread.pillars.exists()


def test_threads_are_assigned_and_unknown_ones_are_not_found() -> None:
    client, thread = client_with("add_pillarthread"), EmailThreadFactory()
    url = f"{BASE}/pillars/3/assign/"
    assert client.post(url, {"thread_ids": [thread.pk]}, format="json").json() == {"assigned": 1}
    assert client.post(url, {"thread_ids": [thread.pk, 99999]}, format="json").status_code == 404
    assert client.post(url, {"thread_ids": []}, format="json").status_code == 400
    assert client.post(url, {"thread_ids": ["x", 10**30]}, format="json").status_code == 400
    assert client.post(url, b"[", content_type="application/json").status_code == 400
    assert [pillar.number for pillar in thread.pillars.all()] == [3]
