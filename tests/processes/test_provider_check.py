"""A provider's test, asked for here and run by a real worker."""

import pytest
import redis

from judge.events.silence import Silence
from judge.models import JudgeModel
from judge.services.provider_check import poll_check, request_check
from judge.simulated.server import SimulatedServer
from tests.processes.conftest import Start, wait_for

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def test_a_worker_runs_the_test_that_was_asked_for(
    model: JudgeModel,
    server: SimulatedServer,
    broker: redis.Redis,
    start_worker: Start,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Silence, "until", 0.0)
    server.play(formats=frozenset({"json_object"}))
    check = request_check(model.provider_id, model.model_name)
    assert check.state == "running"
    start_worker()
    wait_for(lambda: poll_check(check.pk).state == "done", 60, "the worker's findings")
    model.refresh_from_db()
    assert (model.detected_output, server.calls) == ("json_object", 2)
