"""All routes of the API times all kinds of people: nobody gets what is not theirs, and foreign ids do not exist.

The routes are read from the URL configuration, so a new one is in the matrix by itself.
"""

from collections.abc import Callable, Iterator

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.test import APIClient

from judge.models import JudgeSession, LLMProvider
from tests.api.conftest import client_of
from tests.factories import JudgeModelFactory, LLMProviderFactory, UserFactory
from tests.pillars.factories import EmailThreadFactory, PillarFactory

METHODS = ("get", "post", "put", "patch", "delete")
OPEN_TO_ALL = {("post", "api/auth/token/"), ("post", "api/auth/token")}


def routes() -> Iterator[str]:
    """All routes below api/, as they stand in the URL configuration."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                yield route

    return (route for route in walk(get_resolver().url_patterns, "") if route.startswith("api/"))


ROUTES = sorted(set(routes()))
SESSION_ROUTES = [route for route in ROUTES if "sessions/<int:pk>" in route]
PROVIDER_ROUTES = [route for route in ROUTES if "providers/<int:pk>" in route]
NO_SESSION = [route for route in ROUTES if route not in SESSION_ROUTES]


@pytest.fixture
def provider(owner: User) -> LLMProvider:
    """A provider of the owner's own with a model."""
    own: LLMProvider = JudgeModelFactory(provider=LLMProviderFactory(owner=owner)).provider
    return own


@pytest.fixture
def address(session: JudgeSession, provider: LLMProvider) -> dict[str, int]:
    """What stands for the parts of an address; the longer ones come first."""
    pillar = PillarFactory(number=1)
    return {
        "providers/<int:pk>": provider.pk,
        "<int:model_pk>": provider.models.get().pk,
        "<int:pk>": session.pk,
        "<int:comparison_pk>": session.comparisons.first().pk,
        "<int:number>": pillar.number,
    }


def fill(route: str, parts: dict[str, int], is_exact: bool = False) -> str:
    if "threads/<int:pk>" in route and not is_exact:
        parts = parts | {"<int:pk>": EmailThreadFactory(pillar=PillarFactory(number=1)).pk}
    for part, value in parts.items():
        route = route.replace(part, part.replace("<int:pk>", str(value)) if "/" in part else str(value))
    assert "<" not in route, f"the matrix does not know what to put into {route}"
    return f"/{route}"


def answers(client: APIClient, path: str) -> dict[str, tuple[int, bytes]]:
    """Status and body of each method; what a request changed is taken back before the next one."""
    found = {}
    for method in METHODS:
        with transaction.atomic():
            answer = getattr(client, method)(path, {}, format="json")
            found[method] = (answer.status_code, answer.content)
            transaction.set_rollback(True)
    return found


def unexpected(
    client: APIClient, routes: list[str], parts: dict[str, int], is_expected: Callable[[str, str, int], bool]
) -> list[tuple[str, str, int]]:
    """The answers (method, route, status) that must not be."""
    return [
        (method, route, status)
        for route in routes
        for method, (status, _body) in answers(client, fill(route, parts)).items()
        if not is_expected(method, route, status)
    ]


def test_the_matrix_is_not_empty() -> None:
    assert len(SESSION_ROUTES) >= 2 * 15
    assert len(PROVIDER_ROUTES) >= 2 * 4
    assert len(NO_SESSION) >= 10


@pytest.mark.django_db
def test_the_anonymous_get_nothing(address: dict[str, int]) -> None:
    def is_expected(method: str, route: str, status: int) -> bool:
        return status == 400 if (method, route) in OPEN_TO_ALL else status in (401, 403, 405)

    assert unexpected(APIClient(), ROUTES, address, is_expected) == []


@pytest.mark.django_db
def test_to_strangers_a_session_does_not_exist(address: dict[str, int], stranger: User, session: JudgeSession) -> None:
    client = client_of(stranger)
    for route in SESSION_ROUTES:
        path = fill(route, address)
        foreign = answers(client, path)
        assert {status for status, _body in foreign.values()} <= {404, 405}, path
        assert foreign == answers(client, path.replace(f"sessions/{session.pk}", f"sessions/{session.pk + 1000}"))


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["owner", "staff"])
def test_owner_and_staff_reach_every_route_of_a_session(
    who: str, address: dict[str, int], owner: User, staff: User
) -> None:
    # 409: the action does not fit the status; 400: the body was empty.
    allowed = {200, 201, 204, 400, 405, 409}
    client = client_of({"owner": owner, "staff": staff}[who])
    assert unexpected(client, SESSION_ROUTES, address, lambda _method, _route, status: status in allowed) == []


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["stranger", "staff"])
def test_to_others_a_persons_provider_does_not_exist(
    who: str, address: dict[str, int], stranger: User, staff: User, provider: LLMProvider
) -> None:
    client = client_of({"stranger": stranger, "staff": staff}[who])
    for route in PROVIDER_ROUTES:
        path = fill(route, address)
        foreign = answers(client, path)
        assert {status for status, _body in foreign.values()} <= {404, 405}, path
        assert foreign == answers(client, path.replace(f"providers/{provider.pk}", f"providers/{provider.pk + 1000}"))


@pytest.mark.django_db
def test_the_owner_reaches_every_route_of_a_provider(address: dict[str, int], owner: User) -> None:
    allowed = {200, 202, 204, 400, 405}
    client = client_of(owner)
    assert unexpected(client, PROVIDER_ROUTES, address, lambda _method, _route, status: status in allowed) == []


@pytest.mark.django_db
def test_a_provider_of_the_system_is_read_by_all_tested_by_staff_and_changed_by_nobody(
    address: dict[str, int], owner: User, staff: User
) -> None:
    model = JudgeModelFactory()
    parts = address | {"providers/<int:pk>": model.provider_id, "<int:model_pk>": model.pk}

    def is_expected(method: str, route: str, status: int) -> bool:
        return status in ((200, 403, 405) if method == "get" else (403, 405))

    def is_expected_of_staff(method: str, route: str, status: int) -> bool:
        return is_expected(method, route, status) or ("/test" in route and method in ("get", "post"))

    assert unexpected(client_of(owner), PROVIDER_ROUTES, parts, is_expected) == []
    assert unexpected(client_of(staff), PROVIDER_ROUTES, parts, is_expected_of_staff) == []
    assert client_of(owner).get(f"/api/judge/providers/{model.provider_id}/test/").status_code == 403
    assert client_of(staff).get(f"/api/judge/providers/{model.provider_id}/test/").status_code == 200


@pytest.mark.django_db
def test_a_person_without_permissions_changes_nothing(address: dict[str, int]) -> None:
    def is_expected(method: str, route: str, status: int) -> bool:
        if method == "get":
            return status < 500
        return status in (401, 403, 404, 405) or (method, route) in OPEN_TO_ALL

    assert unexpected(client_of(UserFactory(groups=())), NO_SESSION, address, is_expected) == []


@pytest.mark.django_db
@pytest.mark.parametrize("who", ["owner", "stranger", "staff"])
def test_no_route_breaks_on_an_empty_body(
    who: str, address: dict[str, int], owner: User, stranger: User, staff: User
) -> None:
    client = client_of({"owner": owner, "stranger": stranger, "staff": staff}[who])
    assert unexpected(client, ROUTES, address, lambda _method, _route, status: status < 500) == []


@pytest.mark.django_db
def test_no_route_breaks_on_ids_that_no_database_holds(address: dict[str, int], staff: User) -> None:
    client = client_of(staff)
    for route in ROUTES:
        path = fill(route, dict.fromkeys([*address, "<int:pk>"], 10**20), is_exact=True)
        assert {status for status, _body in answers(client, path).values()} <= {*range(200, 500)}, path
