"""Redis is away: people do not wait for it, and work begins when it is back."""

import time

import pytest
from celery import current_app

from judge.domain.states import SessionStatus
from judge.events.silence import Silence
from judge.services import control
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_starting_without_redis_queues_the_session_and_answers_at_once(
    make_session: MakeSession, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    session = make_session(is_started=False, worker_count=5)
    monkeypatch.setattr(Silence, "until", 0.0)
    monkeypatch.setattr(current_app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(current_app, "_pool", None)
    current_app.amqp.__dict__.pop("_producer_pool", None)
    began = time.monotonic()
    started = control.start(session.pk)
    # The request answers within two seconds; six for each of the five lanes were the fault.
    assert time.monotonic() - began < 6
    assert started.status == SessionStatus.QUEUED
    assert "wakeup_not_sent" in caplog.text
    current_app.amqp.__dict__.pop("_producer_pool", None)
