"""Tokens: given for name and password, hashed, revocable, never read from an address."""

import pytest
from django.contrib.auth.models import User
from django.test import override_settings
from django.urls import reverse
from knox.models import AuthToken
from rest_framework.test import APIClient

from tests.factories import PASSWORD, UserFactory

pytestmark = pytest.mark.django_db
TOKEN = reverse("judge-api:token")


def log_in(user: User, password: str = PASSWORD) -> object:
    return APIClient().post(TOKEN, {"username": user.username, "password": password})


def with_token(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def test_name_and_password_give_a_token_that_opens_the_api(owner: User) -> None:
    answer = log_in(owner)
    assert answer.status_code == 200
    assert set(answer.json()) == {"token", "expiry"}
    assert with_token(answer.json()["token"]).get(reverse("judge-api:sessions")).status_code == 200


def test_a_token_is_stored_as_a_hash(owner: User) -> None:
    token = log_in(owner).json()["token"]
    stored = AuthToken.objects.get()
    assert token not in (stored.digest, stored.token_key)
    assert not stored.digest.startswith(token[:15])


def test_the_address_without_its_last_slash_works_too(owner: User) -> None:
    answer = APIClient().post(TOKEN.rstrip("/"), {"username": owner.username, "password": PASSWORD}, format="json")
    assert answer.status_code == 200


@pytest.mark.parametrize("parameter", ["token", "auth_token", "api_key", "authorization", "Authorization"])
def test_a_token_in_the_address_is_worth_nothing(owner: User, parameter: str) -> None:
    token = log_in(owner).json()["token"]
    for value in (token, f"Token {token}"):
        answer = APIClient().get(reverse("judge-api:sessions"), {parameter: value})
        assert answer.status_code == 401
        assert answer.json()["error_type"] == "not_authenticated"


def test_name_and_password_in_the_address_give_no_token(owner: User) -> None:
    answer = APIClient().post(f"{TOKEN}?username={owner.username}&password={PASSWORD}")
    assert answer.status_code == 400
    assert set(answer.json()["details"]) == {"username", "password"}


def test_a_revoked_token_opens_nothing(owner: User) -> None:
    client = with_token(log_in(owner).json()["token"])
    assert client.post(reverse("judge-api:token-revoke")).status_code == 204
    assert client.get(reverse("judge-api:sessions")).status_code == 401


def test_a_wrong_password_and_an_unknown_name_look_alike(owner: User) -> None:
    wrong = log_in(owner, "wrong-password")
    unknown = APIClient().post(TOKEN, {"username": "nobody-of-this-name", "password": "wrong-password"})
    assert wrong.status_code == unknown.status_code == 400
    assert wrong.json() == unknown.json()
    assert wrong.json()["error_type"] == "wrong_credentials"


def test_a_deactivated_person_gets_no_token_and_the_old_one_ends(owner: User) -> None:
    token = log_in(owner).json()["token"]
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert log_in(owner).status_code == 400
    assert with_token(token).get(reverse("judge-api:sessions")).status_code == 401


@override_settings(AXES_FAILURE_LIMIT=3)
def test_guessing_locks_the_name_even_for_the_right_password(owner: User) -> None:
    answers = [log_in(owner, f"guess-{number}") for number in range(3)]
    assert [answer.status_code for answer in answers[:2]] == [400, 400]
    locked = log_in(owner)
    assert locked.status_code == 429
    assert locked.json()["error_type"] == "too_many_attempts"
    assert not AuthToken.objects.exists()
    assert log_in(UserFactory()).status_code == 200


def test_a_stale_cookie_does_not_stop_a_login(owner: User) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.post(TOKEN, {"username": owner.username, "password": PASSWORD}).status_code == 200


def test_beyond_the_limit_the_oldest_token_makes_room(owner: User) -> None:
    tokens = [log_in(owner).json()["token"] for _ in range(21)]
    assert AuthToken.objects.filter(user=owner).count() == 20
    assert with_token(tokens[0]).get(reverse("judge-api:sessions")).status_code == 401
    assert with_token(tokens[1]).get(reverse("judge-api:sessions")).status_code == 200


def test_a_post_by_cookie_needs_the_csrf_token(owner: User) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(owner)
    answer = client.post(reverse("judge-api:estimate"), {"pillar_ids": [1, 2]}, format="json")
    assert answer.status_code == 403
