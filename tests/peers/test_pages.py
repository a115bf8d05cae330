"""Pages show only what they are given: a field that nobody fills would stand there as this mark."""

import copy

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import Client, override_settings

from judge.models import JudgeSession
from judge.services.results import refresh_results
from tests.factories import SessionFactory, judged, running

pytestmark = pytest.mark.django_db

MARK = "NOBODY-FILLS-THIS"


@pytest.fixture
def session() -> JudgeSession:
    """A running session with verdicts, a lane that judges, a failure, and partial results."""
    session = SessionFactory(status="running", worker_count=2)
    first, second, third, *_ = session.comparisons.order_by("queue_position")
    for twin in session.comparisons.filter(pair=first.pair_id):
        judged(twin)
    running(second, worker_id=1)
    session.comparisons.filter(pk=third.pk).update(status="failed", error_code="refused")
    refresh_results(session.pk)
    session.refresh_from_db()
    return session


@pytest.mark.parametrize("place", ["", "config/", "session/{0}/", "session/{0}/results/", "session/{0}/comparisons/"])
def test_no_page_reads_a_field_that_is_not_there(session: JudgeSession, place: str) -> None:
    templates = copy.deepcopy(settings.TEMPLATES)
    templates[0]["OPTIONS"]["string_if_invalid"] = f"{MARK}:%s"
    client = Client(headers={"accept-language": "en"})
    client.force_login(session.owner)
    with override_settings(TEMPLATES=templates):
        assert MARK in Template("{{ no_such_field }}").render(Context())
        answer = client.get(f"/judge/{place.format(session.pk)}")
    assert answer.status_code == 200
    assert MARK not in answer.content.decode()
