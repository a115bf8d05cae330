"""Wake-ups: messages that say "there may be work". They carry ids only and may be lost, doubled or late."""

import logging
from functools import partial

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from judge.events.silence import Silence

logger = logging.getLogger(__name__)

PAYLOAD_VERSION = 1
RUN_LANE = "judge.run_lane"
REFRESH_RESULTS = "judge.refresh_results"
PROBE = "judge.probe_provider"
WRITE_PLAN = "judge.write_plan"
DELETE_SESSION = "judge.delete_session"
CHECK_PROVIDER = "judge.check_provider"
# A wake-up that waited longer than this was overtaken long ago. Sender and worker each read their own clock, so it is
# long enough for clocks that are an hour apart; surplus wake-ups find their lane busy and end at once.
EXPIRES_SECONDS = 7200


def wake_lane(session_id: int, worker_id: int) -> None:
    """Ask some worker to judge the next comparison in this lane."""
    _send(RUN_LANE, session_id, worker_id)


def wake_lanes_on_commit(session_id: int, worker_count: int) -> None:
    """Wake all lanes of a session once the current transaction is committed."""
    for worker_id in range(worker_count):
        transaction.on_commit(partial(wake_lane, session_id, worker_id))


def ask_for_results(session_id: int) -> None:
    """Ask some worker to compute the results anew."""
    _send(REFRESH_RESULTS, session_id)


def ask_for_plan(session_id: int) -> None:
    """Ask some worker to write the rest of a session's plan."""
    _send(WRITE_PLAN, session_id)


def ask_for_deletion(session_id: int) -> None:
    """Ask some worker to remove the rows of a deleted session."""
    _send(DELETE_SESSION, session_id)


def ask_for_check(check_id: int) -> bool:
    """Ask some worker to test a provider. Returns whether the message went out: no recovery repeats this one."""
    return bool(_send(CHECK_PROVIDER, check_id))


def ask_for_probe(provider_id: int) -> None:
    """Ask some worker whether a provider with an open breaker answers again."""
    _send(PROBE, provider_id)


def _send(task: str, *ids: int) -> bool:
    if Silence.is_kept():
        return False
    try:
        current_app.send_task(task, args=ids, kwargs={"version": PAYLOAD_VERSION}, expires=EXPIRES_SECONDS)
    except (OperationalError, OSError) as error:
        # The database knows what is to be done; recover() wakes the lanes as soon as Redis is back.
        Silence.begin()
        logger.warning("wakeup_not_sent task=%s ids=%s error=%s", task, ids, type(error).__name__)
        return False
    return True
