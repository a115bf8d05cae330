"""Messages of another version of this program: refused, and the worker lives. Nothing here reaches a database."""

from typing import Any

import pytest
from celery import states as celery_states
from celery.exceptions import Reject

from judge import tasks
from judge.services import wakeups

VERSION = wakeups.PAYLOAD_VERSION
TASKS = pytest.mark.parametrize(
    ("task", "ids"),
    [
        (tasks.run_lane, (1, 0)),
        (tasks.refresh_results, (1,)),
        (tasks.check_provider, (1,)),
        (tasks.probe_provider, (1,)),
    ],
    ids=["run_lane", "refresh_results", "check_provider", "probe_provider"],
)


@TASKS
@pytest.mark.parametrize(
    ("surplus", "payload"),
    [
        ((), {"version": VERSION + 1}),
        ((), {"version": None}),
        ((), {}),
        ((7, 8), {"version": VERSION + 1}),
        ((), {"version": VERSION + 1, "tenant": "a word of the future"}),
        ((7, 8), {"version": VERSION}),
    ],
    ids=["newer", "version unknown", "without a version", "newer with more ids", "newer with more names", "more ids"],
)
def test_a_payload_that_is_not_known_here_is_rejected_and_the_worker_lives(
    task: Any, ids: tuple[int, ...], surplus: tuple[int, ...], payload: dict[str, Any]
) -> None:
    with pytest.raises(Reject) as refused:
        task(*ids, *surplus, **payload)
    assert refused.value.requeue is False
    assert task.apply(args=(*ids, *surplus), kwargs=payload).state == celery_states.REJECTED


@TASKS
def test_a_payload_without_its_ids_is_rejected(task: Any, ids: tuple[int, ...]) -> None:
    with pytest.raises(Reject):
        task(*ids[:-1], version=VERSION)
