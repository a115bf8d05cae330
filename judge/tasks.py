"""Celery tasks: ids in, one service call.

Old and new code may run side by side: a message of another version, or with other ids than this version knows, is
rejected and dropped; recovery sends what is still to be done in words that are understood.
"""

import inspect
from collections.abc import Callable
from typing import Any

from celery import Task, shared_task
from celery.exceptions import Reject

from judge.services import breaker, deletion, lanes, provider_check, recovery, refresh, wakeups
from judge.services.planning import writing


def _wakeup(name: str) -> Callable[[Callable[..., None]], Task]:
    """A task that takes exactly the ids its function names, and the version of the payload."""

    def decorate(work: Callable[..., None]) -> Task:
        count = len(inspect.signature(work).parameters)

        def receive(*ids: Any, **payload: Any) -> None:
            if payload != {"version": wakeups.PAYLOAD_VERSION}:
                raise Reject(f"payload version {payload.get('version')} is not known here", requeue=False)
            if len(ids) != count or not all(type(number) is int for number in ids):
                raise Reject(f"{name} takes {count} ids", requeue=False)
            work(*ids)

        # Without functools.wraps: Celery would follow it to the inner signature and take a wrong message for a crash.
        receive.__name__, receive.__doc__, receive.__module__ = work.__name__, work.__doc__, work.__module__
        return shared_task(name=name)(receive)

    return decorate


@_wakeup(wakeups.RUN_LANE)
def run_lane(session_id: int, worker_id: int) -> None:
    """Judge in one lane for a few seconds, then wake the lane again."""
    if lanes.keep_lane_busy(session_id, worker_id):
        wakeups.wake_lane(session_id, worker_id)


@_wakeup(wakeups.REFRESH_RESULTS)
def refresh_results(session_id: int) -> None:
    """Compute the results of a session anew."""
    refresh.refresh_when_due(session_id)


@_wakeup(wakeups.WRITE_PLAN)
def write_plan(session_id: int) -> None:
    """Write a part of a session's plan, then ask for the next."""
    if writing.write_for_a_while(session_id):
        wakeups.ask_for_plan(session_id)


@_wakeup(wakeups.DELETE_SESSION)
def delete_session(session_id: int) -> None:
    """Remove a part of a deleted session's rows, then ask for the next."""
    if deletion.delete_for_a_while(session_id):
        wakeups.ask_for_deletion(session_id)


@_wakeup(wakeups.CHECK_PROVIDER)
def check_provider(check_id: int) -> None:
    """Run the test of a provider that a person asked for."""
    provider_check.run_check(check_id)


@_wakeup(wakeups.PROBE)
def probe_provider(provider_id: int) -> None:
    """See whether a provider with an open breaker answers again."""
    breaker.probe(provider_id)


@shared_task(name="judge.recover")
def recover() -> None:
    """Give lost work back and wake what should run."""
    recovery.recover()
