"""Unknown addresses."""

import pytest
from django.test import Client

from tests.factories import UserFactory


@pytest.mark.django_db
def test_an_unknown_address_of_the_api_is_answered_in_its_shape() -> None:
    client = Client(headers={"accept-language": "en"})
    client.force_login(UserFactory())
    answer = client.get("/api/judge/nothing-of-the-kind/")
    assert answer.status_code == 404
    assert answer.json() == {"error": "Not found.", "error_type": "not_found", "details": {}}


@pytest.mark.django_db
def test_an_unknown_page_is_a_page() -> None:
    client = Client()
    client.force_login(UserFactory())
    answer = client.get("/nothing-of-the-kind/")
    assert answer.status_code == 404
    assert answer["content-type"].startswith("text/html")
