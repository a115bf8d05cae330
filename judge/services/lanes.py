"""A lane: claim one comparison, ask the model, store what came of it."""

import logging
import random
import time
import traceback
from collections import Counter

from django.db import DatabaseError

from judge import events
from judge.domain.answer_text import InvalidAnswer
from judge.domain.errors import ErrorCode
from judge.domain.prompt import messages_sha256, reask_message
from judge.domain.retry import GiveUp, PauseSession, Reask, RetryAfter, RetryPolicy, decide
from judge.domain.verdict import Verdict, parse_verdict
from judge.llm.client import Answer, CallFailed, Limits, stream_chat
from judge.models import JudgeAttempt
from judge.services import attempts, queue
from judge.services.briefs import ProviderNotAllowed, forget_briefs
from judge.services.cases import Case, load_case
from judge.services.claiming import Claim, TakenClaim
from judge.services.leases import STOPPING, Lease, keeper
from judge.services.refresh import results_wanted
from judge.services.relay import AnswerRelay
from judge.services.verdicts import complete

logger = logging.getLogger(__name__)

LIMITS = Limits()
POLICY = RetryPolicy()
LANE_SECONDS = 5.0
MORE_TOKENS = 16_000
# A provider that asks for a longer rest pauses the session instead of holding a lane.
LONGEST_WAIT = 120.0


def run_lane(session_id: int, worker_id: int) -> bool:
    """Judge ONE comparison in this lane. Returns whether the lane should be woken again.

    Safe to call twice at once, to lose, and to be killed at any point.
    """
    if STOPPING.is_set():
        return False
    claimed = queue.claim(session_id, worker_id)
    if claimed is None:
        return False
    with keeper.keep(claimed) as lease:
        try:
            Deliberation(claimed, load_case(claimed), lease).run()
        except ProviderNotAllowed:
            queue.release(claimed, pause_reason=ErrorCode.NOT_ALLOWED)
        except DatabaseError:
            raise  # the lease runs out and recovery gives the comparison back
        except Exception as error:
            _record_internal_error(claimed, error)
    results_wanted(session_id)
    return not STOPPING.is_set()


def keep_lane_busy(session_id: int, worker_id: int, seconds: float = LANE_SECONDS) -> bool:
    """Judge one comparison after the other in this lane, beginning none after ``seconds``.

    A message per comparison would cost more than storing its verdict; after a few seconds the lane makes room for
    lanes of other sessions all the same. Returns whether the lane should be woken again.
    """
    until = time.monotonic() + seconds
    while run_lane(session_id, worker_id):
        if time.monotonic() >= until:
            return True
    return False


def _record_internal_error(claimed: Claim, error: Exception) -> None:
    """Log where our own code failed, without the exception's message: it might quote a thread or an answer."""
    where = "".join(traceback.format_tb(error.__traceback__))
    logger.error("lane_failed comparison=%s error=%s\n%s", claimed.comparison_id, type(error).__name__, where)
    queue.fail(claimed, ErrorCode.INTERNAL_ERROR)


class Deliberation:
    """The calls that are made for one claimed comparison, until a verdict, a final failure, or the end of the claim."""

    def __init__(self, claimed: TakenClaim, case: Case, lease: Lease) -> None:
        self._claimed = claimed
        self._case = case
        self._lease = lease
        self._messages = case.prompt.messages()
        self._calls = 0
        self._reasks = 0
        self._codes: Counter[ErrorCode] = Counter()
        self._max_tokens: int | None = None

    def run(self) -> None:
        """Ask until the comparison is decided."""
        self._announce()
        while self._call_once():
            pass
        events.forget_soon(self._claimed.comparison_id, str(self._claimed.token))

    def _announce(self) -> None:
        taken, numbers = self._claimed, self._case.brief.pillar_numbers
        events.publish_soon(
            events.ComparisonStarted(
                session_id=taken.session_id,
                worker_id=taken.worker_id,
                comparison_id=taken.comparison_id,
                position_order=taken.position_order,
                thread_a_id=taken.thread_ids[0],
                thread_b_id=taken.thread_ids[1],
                pillar_a=numbers[taken.pillar_ids[0]],
                pillar_b=numbers[taken.pillar_ids[1]],
            )
        )

    def _call_once(self) -> bool:
        """Make one call; returns whether another one is to follow."""
        self._calls += 1
        attempt = attempts.open_attempt(self._claimed, self._calls, messages_sha256(self._messages))
        try:
            answer = self._ask()
        except CallFailed as failure:
            if self._lease.is_lost:
                return self._throw_away(attempt, failure)
            attempts.close_failed(attempt, failure, failure.code)
            return self._after_failure(failure.code, failure.message, retry_after=failure.retry_after)
        except Exception:
            attempts.close_broken(attempt)
            raise
        return self._after_answer(attempt, answer)

    def _throw_away(self, attempt: JudgeAttempt, failure: CallFailed) -> bool:
        """The call was cut because somebody else has the comparison, or its session was aborted or deleted."""
        attempts.close_failed(attempt, failure, ErrorCode.STALE_ATTEMPT)
        queue.logged(self._claimed, still_held=False)
        return False

    def _ask(self) -> Answer:
        relay = AnswerRelay(self._claimed)
        answer = stream_chat(
            self._case.brief.endpoint,
            self._messages,
            self._case.brief.schema,
            LIMITS,
            self._max_tokens,
            relay.add,
            self._lease.should_stop,
        )
        relay.flush()
        return answer

    def _after_answer(self, attempt: JudgeAttempt, answer: Answer) -> bool:
        try:
            verdict: Verdict = parse_verdict(answer.text, self._case.brief.rubric)
        except InvalidAnswer as invalid:
            code = ErrorCode(invalid.code)
            attempts.close_answered(attempt, answer, code, invalid.problems)
            return self._after_failure(code, "; ".join(invalid.problems), problems=invalid.problems)
        if not complete(self._claimed, self._case, verdict, answer, attempt):
            attempts.close_answered(attempt, answer, ErrorCode.STALE_ATTEMPT)
        return False

    def _after_failure(
        self, code: ErrorCode, message: str, *, problems: tuple[str, ...] = (), retry_after: float | None = None
    ) -> bool:
        if code == ErrorCode.CANCELLED or self._lease.should_stop():
            if not self._lease.is_lost:
                queue.release(self._claimed)
            return False
        self._codes[code] += 1
        decision = decide(
            code,
            self._calls,
            self._reasks,
            retry_after,
            POLICY,
            random.random(),  # noqa: S311  jitter, not a secret
            self._codes[code],
        )
        match decision:
            case Reask():
                self._reasks += 1
                self._messages = [
                    *self._case.prompt.messages(),
                    {"role": "user", "content": reask_message(problems, self._case.brief.language)},
                ]
            case RetryAfter(seconds) if seconds > LONGEST_WAIT:
                return self._pause(code)
            case RetryAfter(seconds, more_tokens):
                self._max_tokens = MORE_TOKENS if more_tokens else self._max_tokens
                self._announce_retry(code)
                self._lease.wait(seconds)
            case PauseSession(reason):
                return self._pause(reason)
            case GiveUp(final):
                queue.fail(self._claimed, final, message)
                return False
        return True

    def _pause(self, reason: ErrorCode) -> bool:
        """Give the comparison back and pause the session until somebody has mended the provider."""
        forget_briefs()
        queue.release(self._claimed, pause_reason=reason)
        return False

    def _announce_retry(self, code: ErrorCode) -> None:
        events.publish_soon(
            events.ComparisonFailed(
                session_id=self._claimed.session_id,
                worker_id=self._claimed.worker_id,
                comparison_id=self._claimed.comparison_id,
                error_code=code,
                will_retry=True,
            )
        )
