"""The pages of pillars."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from pillars.models import EmailThread
from pillars.web.views import THREADS_PER_PAGE
from tests.pillars.factories import EmailThreadFactory, PillarFactory

pytestmark = pytest.mark.django_db


def client_with(*permissions: str) -> Client:
    user = User.objects.create_user("example-user")
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="pillars", codename__in=permissions))
    client = Client(headers={"accept-language": "en"})
    client.force_login(user)
    return client


def upload(client: Client, value: Any, **fields: Any) -> Any:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    form = {"pillar": 1, "language": "de", "file": SimpleUploadedFile("threads.json", data), **fields}
    return client.post("/judge/upload/", form)


def records(*names: str) -> list[dict[str, Any]]:
    return [{"id": name, "messages": [{"role": "client", "content": f"Example {name}"}]} for name in names]


def test_a_pillar_shows_its_threads_page_by_page() -> None:
    pillar = PillarFactory()
    threads = [EmailThreadFactory(pillar=pillar) for _ in range(THREADS_PER_PAGE + 1)]
    client = client_with("view_emailthread")
    first = client.get(f"/judge/pillar/{pillar.number}/").content.decode()
    assert f"/judge/pillar/{pillar.number}/threads/{threads[0].pk}/" in first
    assert threads[-1].subject not in first
    second = client.get(f"/judge/pillar/{pillar.number}/?page=2").content.decode()
    assert threads[-1].subject in second


def test_all_pillars_are_reached_from_every_page_with_their_counts() -> None:
    pillar = PillarFactory()
    EmailThreadFactory(pillar=pillar)
    client = client_with("view_emailthread")
    assert 'href="/judge/pillars/"' in client.get("/judge/").content.decode()
    page = client.get("/judge/pillars/").content.decode()
    assert f'href="/judge/pillar/{pillar.number}/"' in page
    assert '<a href="/judge/pillars/" aria-current="page">' in page
    row = page[page.index(f'href="/judge/pillar/{pillar.number}/"') :]
    assert '<td class="num">1</td>' in row[: row.index("</tr>")]


def test_who_may_not_read_threads_is_not_led_to_the_pillars() -> None:
    client = client_with()
    assert 'href="/judge/pillars/"' not in client.get("/judge/").content.decode()
    assert client.get("/judge/pillars/").status_code == 403


@pytest.mark.parametrize("size", [1, 20])
def test_the_page_of_a_pillar_costs_the_same_queries_whatever_its_length(
    size: int, django_assert_num_queries: Any
) -> None:
    pillar = PillarFactory()
    for _ in range(size):
        EmailThreadFactory(pillar=pillar)
    client = client_with("view_emailthread")
    with django_assert_num_queries(7):  # login and user, permissions of user and groups, pillar, count, page
        assert client.get(f"/judge/pillar/{pillar.number}/").status_code == 200


@pytest.mark.parametrize("size", [1, 20])
def test_the_page_of_a_thread_costs_the_same_queries_whatever_its_length(
    size: int, django_assert_num_queries: Any
) -> None:
    pillar = PillarFactory()
    thread = EmailThreadFactory(pillar=pillar, letters=[("client", f"Example {n}") for n in range(size)])
    client = client_with("view_emailthread")
    with django_assert_num_queries(8):  # as above, with thread, messages and pillars
        assert client.get(f"/judge/pillar/{pillar.number}/threads/{thread.pk}/").status_code == 200


def test_an_empty_pillar_says_what_to_do_next() -> None:
    assert "holds no threads yet" in client_with("view_emailthread").get("/judge/pillar/1/").content.decode()


def test_a_thread_is_read_with_roles_and_nothing_in_it_is_active() -> None:
    pillar = PillarFactory()
    thread = EmailThreadFactory(
        pillar=pillar,
        subject="<script>subject()</script>",
        letters=[("client", "<img src=x onerror=alert(1)>\nnext line"), ("counsellor", "answer")],
    )
    response = client_with("view_emailthread").get(f"/judge/pillar/{pillar.number}/threads/{thread.pk}/")
    page = response.content.decode()
    assert "<script>subject" not in page
    assert "<img" not in page
    assert "&lt;img src=x onerror=alert(1)&gt;\nnext line" in page
    assert page.index("message-client") < page.index("message-counsellor")
    assert "no-store" in response.headers["Cache-Control"]


def test_a_thread_of_another_pillar_is_not_found() -> None:
    pillar, thread = PillarFactory(), EmailThreadFactory(pillar=PillarFactory())
    client = client_with("view_emailthread")
    assert client.get(f"/judge/pillar/{pillar.number}/threads/{thread.pk}/").status_code == 404
    assert client.get("/judge/pillar/999/").status_code == 404
    assert client.get(f"/judge/pillar/{10**30}/").status_code == 404


def test_pages_need_login_and_permission() -> None:
    paths = ["/judge/pillar/1/", "/judge/upload/"]
    for path in paths:
        assert Client().get(path).status_code == 302
    client = client_with()
    assert [client.get(path).status_code for path in paths] == [403, 403]
    assert upload(client, records("a")).status_code == 403
    assert not EmailThread.objects.exists()


def test_an_upload_says_what_came_of_it() -> None:
    client = client_with("add_emailthread", "view_emailthread")
    assert 'value="2" selected' in client.get("/judge/upload/?pillar=2").content.decode()
    response = upload(client, records("a", "b"))
    assert response.status_code == 200
    assert "2 threads added" in response.content.decode()
    assert 'value="1" selected' in response.content.decode()
    again = upload(client, records("a", "b"))
    assert "2 threads already there" in again.content.decode()
    assert EmailThread.objects.filter(pillars__number=1).count() == 2


def test_an_upload_speaks_german() -> None:
    client = client_with("add_emailthread")
    response = client.get("/judge/upload/", headers={"accept-language": "de"})
    assert response.headers["Content-Language"] == "de"
    assert '<html lang="de">' in response.content.decode()


def test_a_broken_file_is_told_row_by_row_and_changes_nothing() -> None:
    threads = records("a", "b")
    threads[1]["messages"][0]["role"] = "nobody"
    response = upload(client_with("add_emailthread"), threads)
    assert response.status_code == 200
    page = response.content.decode()
    assert "messages.0.role" in page
    assert "The role must be counsellor or client." in page
    assert not EmailThread.objects.exists()


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"PK\x03\x04"])
def test_a_file_that_is_no_json_is_told(data: bytes) -> None:
    response = upload(client_with("add_emailthread"), data)
    assert response.status_code == 200
    assert "Nothing was imported" in response.content.decode()


@pytest.mark.parametrize("fields", [{"pillar": 99}, {"pillar": ""}, {"language": "fr"}, {"file": ""}])
def test_a_form_that_is_not_complete_is_shown_again(fields: dict[str, Any]) -> None:
    response = upload(client_with("add_emailthread"), records("a"), **fields)
    assert response.status_code == 200
    assert "errorlist" in response.content.decode()
    assert not EmailThread.objects.exists()


def test_a_file_above_the_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pillars.forms.MAX_FILE_BYTES", 10)
    response = upload(client_with("add_emailthread"), records("a"))
    assert response.status_code == 200
    assert "larger than" in response.content.decode()
