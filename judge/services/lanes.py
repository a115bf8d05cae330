"""A lane: claim one comparison, have it decided, and make room for other lanes now and then."""

import logging
import random
import time
import traceback
from contextlib import suppress

from django.db import DatabaseError, IntegrityError

from judge import metrics
from judge.domain.errors import ErrorCode
from judge.services import queue
from judge.services.briefs import KeyUnreadable, ProviderNotAllowed
from judge.services.cases import load_case
from judge.services.claiming import Claim, TakenClaim
from judge.services.deliberation import Deliberation
from judge.services.leases import STOPPING, Lease, keeper
from judge.services.patience import cannot_store
from judge.services.planning.growth import grow
from judge.services.provider_states import seconds_until_callable
from judge.services.refresh import results_wanted
from judge.services.sharing import wake_starving
from judge.services.stopping import pause, stop_judge
from llars.logs import about

logger = logging.getLogger(__name__)

LANE_SECONDS = 5.0
# Lanes that wait for the same moment do not return in step.
SPREAD_SECONDS = 0.5


def run_lane(session_id: int, worker_id: int) -> bool:
    """Judge ONE comparison in this lane, or plan what comes next. Returns whether there may be more to judge at once.

    Safe to call twice at once, to lose, and to be killed at any point. Raises DatabaseError when the database is away:
    the comparison comes back by itself.
    """
    if STOPPING.is_set():
        return False
    claimed = queue.claim(session_id, worker_id)
    if claimed is None:
        return grow(session_id)
    metrics.claimed(claimed.provider_id)
    with keeper.keep(claimed) as lease, about(session=session_id, comparison=claimed.comparison_id, worker=worker_id):
        _judge(claimed, lease)
    results_wanted(session_id)
    return not STOPPING.is_set()


def keep_lane_busy(session_id: int, worker_id: int, seconds: float = LANE_SECONDS) -> bool:
    """Judge one comparison after the other in this lane, beginning none after ``seconds``.

    A message per comparison would cost more than storing its verdict; after a few seconds the lane makes room for
    lanes of other sessions all the same. Where every provider rests for a moment, the lane waits for it. Returns
    whether the lane should be woken again.
    """
    until = time.monotonic() + seconds
    while run_lane(session_id, worker_id) or _wait_for_provider(session_id, until - time.monotonic()):
        if time.monotonic() >= until:
            wake_starving(session_id)
            return True
    return False


def _judge(claimed: TakenClaim, lease: Lease) -> None:
    try:
        Deliberation(claimed, load_case(claimed), lease).run()
    except ProviderNotAllowed:
        _stop(claimed, ErrorCode.NOT_ALLOWED)
    except KeyUnreadable:
        _stop(claimed, ErrorCode.KEY_UNREADABLE)
    except IntegrityError as error:
        # Most likely the session was deleted: there is no comparison left that a call could be recorded for.
        if queue.logged(claimed, bool(queue.held([claimed.token]))):
            _record_internal_error(claimed, error)
    except DatabaseError as error:
        _give_back(claimed, error)
        raise
    except Exception as error:
        _record_internal_error(claimed, error)


def _stop(claimed: TakenClaim, reason: ErrorCode) -> None:
    stop_judge(claimed.judge_id, reason)
    queue.release(claimed, reason)


def _wait_for_provider(session_id: int, seconds: float) -> bool:
    """Wait until a resting provider of the session may be called, if that is soon; whether it may be now."""
    if seconds <= 0 or STOPPING.is_set():
        return False
    rest = seconds_until_callable(session_id)
    if rest is None or rest > seconds:
        return False
    return not STOPPING.wait(rest + SPREAD_SECONDS * random.random())  # noqa: S311  spread, not a secret


def _give_back(claimed: Claim, error: DatabaseError) -> None:
    """The database failed before or after the call. If it works again by now, others need not wait for the lease."""
    with suppress(DatabaseError):
        queue.release(claimed, ErrorCode.STORAGE if cannot_store(error) else None)
        if cannot_store(error):
            pause(claimed.session_id, ErrorCode.STORAGE)


def _record_internal_error(claimed: Claim, error: Exception) -> None:
    """Log where our own code failed, without the exception's message: it might quote a thread or an answer."""
    where = "".join(traceback.format_tb(error.__traceback__))
    logger.error("lane_failed comparison=%s error=%s\n%s", claimed.comparison_id, type(error).__name__, where)
    queue.fail(claimed, ErrorCode.INTERNAL_ERROR)
