"""The list of sessions."""

from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from judge.models import JudgeSession
from judge.partials import SESSIONS_PER_PAGE
from tests.factories import SessionFactory, UserFactory, share
from tests.web.conftest import browser_of

pytestmark = pytest.mark.django_db


def test_a_person_sees_own_and_shared_sessions_only(session: JudgeSession, stranger: User, staff: User) -> None:
    friend = share(session)
    for person, is_shown in ((session.owner, True), (friend, True), (staff, True), (stranger, False)):
        page = browser_of(person).get("/judge/").content.decode()
        assert (session.name in page) is is_shown


def test_an_empty_list_says_what_to_do_next(reader: Client) -> None:
    page = reader.get("/judge/").content.decode()
    assert "Plan the first session" in page
    assert 'href="/judge/config/"' in page


def test_people_who_may_not_plan_are_not_sent_to_the_form() -> None:
    reader = UserFactory()
    reader.groups.clear()
    reader.user_permissions.add(Permission.objects.get(codename="view_judgesession"))
    page = browser_of(reader).get("/judge/").content.decode()
    assert "/judge/config/" not in page


def test_without_the_permission_the_list_is_refused_and_without_a_login_it_asks_for_one() -> None:
    assert browser_of(UserFactory(groups=())).get("/judge/").status_code == 403
    answer = browser_of(None).get("/judge/")
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/login/?next=/judge/")


def test_the_list_has_pages(owner: User, reader: Client) -> None:
    sessions = [SessionFactory(owner=owner) for _ in range(SESSIONS_PER_PAGE + 1)]
    assert sessions[0].name + "<" not in reader.get("/judge/").content.decode()
    assert sessions[0].name + "<" in reader.get("/judge/?page=2").content.decode()
    assert reader.get("/judge/?page=nonsense").status_code == 200


@pytest.mark.parametrize("count", [1, 6])
def test_the_list_costs_the_same_queries_whatever_its_length(
    count: int, owner: User, reader: Client, django_assert_num_queries: Any
) -> None:
    for _ in range(count):
        SessionFactory(owner=owner)
    # login 2, permissions 2, count, sessions, their pillars, judges, models, providers
    with django_assert_num_queries(10):
        reader.get("/judge/")


def test_polling_gets_the_same_list_as_a_swap(session: JudgeSession, reader: Client) -> None:
    part = reader.get("/judge/list/").content.decode()
    assert part.startswith('<section id="sessions"')
    assert 'hx-swap-oob="true"' in part
    assert session.name in part
