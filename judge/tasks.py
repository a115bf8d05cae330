"""Celery tasks: ids in, one service call. Unknown payload versions are rejected: old and new code may run together."""

from celery import shared_task
from celery.exceptions import Reject

from judge.services import breaker, lanes, provider_check, recovery, results, wakeups


def _check(version: int) -> None:
    if version != wakeups.PAYLOAD_VERSION:
        raise Reject(f"payload version {version} is not known here", requeue=False)


@shared_task(name=wakeups.RUN_LANE)
def run_lane(session_id: int, worker_id: int, version: int = 0) -> None:
    """Judge in one lane for a few seconds, then wake the lane again."""
    _check(version)
    if lanes.keep_lane_busy(session_id, worker_id):
        wakeups.wake_lane(session_id, worker_id)


@shared_task(name=wakeups.REFRESH_RESULTS)
def refresh_results(session_id: int, version: int = 0) -> None:
    """Compute the results of a session anew."""
    _check(version)
    results.refresh_results(session_id)


@shared_task(name=wakeups.CHECK_PROVIDER)
def check_provider(check_id: int, version: int = 0) -> None:
    """Run the test of a provider that a person asked for."""
    _check(version)
    provider_check.run_check(check_id)


@shared_task(name=wakeups.PROBE)
def probe_provider(provider_id: int, version: int = 0) -> None:
    """See whether a provider with an open breaker answers again."""
    _check(version)
    breaker.probe(provider_id)


@shared_task(name="judge.recover")
def recover() -> None:
    """Give lost work back and wake what should run."""
    recovery.recover()
