"""The calls that are made for one claimed comparison, until a verdict, a final failure, or the end of the claim."""

import random
import time
from collections import Counter

from judge import events, metrics
from judge.domain.answer_text import InvalidAnswer
from judge.domain.errors import ErrorCode
from judge.domain.limits import LONGEST_WAIT
from judge.domain.prompt import messages_sha256, reask_message
from judge.domain.retry import RETRIED, GiveUp, Reask, RetryAfter, RetryPolicy, StopJudge, decide
from judge.domain.verdict import Verdict, parse_verdict
from judge.llm.client import Answer, CallFailed, Limits, stream_chat
from judge.models import JudgeAttempt
from judge.services import attempts, breaker, cooling, queue, rates
from judge.services.briefs import forget_briefs
from judge.services.cases import Case
from judge.services.claiming import TakenClaim
from judge.services.leases import Lease
from judge.services.patience import store
from judge.services.relay import AnswerRelay
from judge.services.stopping import stop_judge
from judge.services.turns import NotNow, Turns
from judge.services.verdicts import complete

LIMITS = Limits()
POLICY = RetryPolicy()
MORE_TOKENS = 16_000


class Deliberation:
    """One comparison before its judge."""

    def __init__(self, claimed: TakenClaim, case: Case, lease: Lease) -> None:
        self._claimed = claimed
        self._case = case
        self._lease = lease
        self._messages = case.prompt.messages()
        self._calls = 0
        self._reasks = 0
        self._codes: Counter[ErrorCode] = Counter()
        self._max_tokens: int | None = None
        self._turns = Turns(claimed, lease, case.brief.rates)
        self._delay = 0.0
        self._began = 0.0

    def run(self) -> None:
        """Ask until the comparison is decided."""
        self._announce()
        while self._may_call() and self._call_once():
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

    def _may_call(self) -> bool:
        """Wait until the next call may be made; False when the comparison was given back instead."""
        delay, self._delay = self._delay, 0.0
        try:
            self._turns.wait(rates.expected_tokens(self._messages), delay, is_first=not self._calls)
        except NotNow as later:
            if not self._lease.is_lost:
                self._give_back(later.reason)
            return False
        return True

    # The call ------------------------------------------------------------------------------------------------------

    def _call_once(self) -> bool:
        """Make one call; returns whether another one is to follow."""
        self._calls += 1
        attempt = attempts.open_attempt(self._claimed, self._calls, messages_sha256(self._messages))
        self._began = time.monotonic()
        try:
            answer = self._ask()
        except CallFailed as failure:
            if self._lease.is_lost:
                return self._throw_away(attempt, failure)
            attempts.close_failed(attempt, failure, failure.code)
            self._count(failure, failure.code)
            self._settle(failure)
            return self._after_failed_call(failure)
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
            self._case.brief.last_words,
        )
        relay.flush()
        return answer

    def _count(self, call: Answer | CallFailed, code: str) -> None:
        metrics.call_ended(
            self._claimed.provider_id,
            code,
            call.latency_ms,
            call.first_token_ms,
            call.prompt_tokens,
            call.completion_tokens,
        )

    # After a call --------------------------------------------------------------------------------------------------

    def _after_answer(self, attempt: JudgeAttempt, answer: Answer) -> bool:
        try:
            verdict: Verdict = parse_verdict(answer.text, self._case.brief.rubric)
        except InvalidAnswer as invalid:
            code = ErrorCode(invalid.code)
            attempts.close_answered(attempt, answer, code, invalid.problems)
            self._count(answer, code)
            self._settle(answer)
            return self._after_failure(code, "; ".join(invalid.problems), problems=invalid.problems)
        is_ours = store(lambda: complete(self._claimed, self._case, verdict, answer, attempt), self._lease)
        if not is_ours:
            attempts.close_answered(attempt, answer, ErrorCode.STALE_ATTEMPT)
        self._count(answer, "" if is_ours else ErrorCode.STALE_ATTEMPT)
        # After the verdict is stored: should the database fail here, nothing that was paid for is lost.
        self._settle(answer)
        if self._case.brief.is_slowed_down:
            cooling.grow(self._claimed.provider_id)
        return False

    def _settle(self, call: Answer | CallFailed) -> None:
        """Correct what was booked for a call by the tokens that it used, also where its answer is of no use."""
        if call.prompt_tokens is not None and call.completion_tokens is not None:
            booked = rates.expected_tokens(self._messages)
            rates.settle(self._case.brief.rates, booked, call.prompt_tokens + call.completion_tokens)

    def _after_failed_call(self, failure: CallFailed) -> bool:
        code, provider_id = failure.code, self._claimed.provider_id
        if self._was_stopped():
            return False
        if breaker.open_if_failing(provider_id, code):
            forget_briefs()  # so that a mended address is called as soon as the session goes on
            return self._give_back(code)
        if code is ErrorCode.RATE_LIMITED or (code in RETRIED and failure.retry_after is not None):
            rest = cooling.cool(provider_id, code, failure.retry_after, self._began)
            forget_briefs()  # so that the next success of this process knows that there is something to grow
            if rest.seconds > LONGEST_WAIT or self._claimed.provider_slot >= rest.concurrency:
                return self._give_back(code)
        return self._after_failure(code, failure.message)

    def _after_failure(self, code: ErrorCode, message: str, problems: tuple[str, ...] = ()) -> bool:
        if self._was_stopped():
            return False
        self._codes[code] += 1
        own_calls = self._calls - self._codes[ErrorCode.RATE_LIMITED]
        decision = decide(code, own_calls, self._reasks, None, POLICY, _dice(), self._codes[code])
        match decision:
            case Reask():
                self._reasks += 1
                self._messages = [
                    *self._case.prompt.messages(),
                    {"role": "user", "content": reask_message(problems, self._case.brief.language)},
                ]
            case RetryAfter(seconds, more_tokens):
                self._max_tokens = MORE_TOKENS if more_tokens else self._max_tokens
                self._announce_retry(code)
                self._delay = 0.0 if code is ErrorCode.RATE_LIMITED else seconds  # the provider's rest is longer
            case StopJudge(reason):
                forget_briefs()
                stop_judge(self._claimed.judge_id, reason)  # first, so that no other lane takes the comparison
                return self._give_back(reason)
            case GiveUp(final):
                queue.fail(self._claimed, final, message)
                return False
        metrics.retried(self._claimed.provider_id, code)
        return True

    def _give_back(self, reason: ErrorCode | None) -> bool:
        """No call can be made for now: somebody judges the comparison later, and nothing is counted."""
        queue.release(self._claimed, reason)
        return False

    def _was_stopped(self) -> bool:
        """Whether the claim or this process came to its end; if only the process, the comparison is given back."""
        if not self._lease.should_stop():
            return False
        if not self._lease.is_lost:
            queue.release(self._claimed)
        return True

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


def _dice() -> float:
    return random.random()  # noqa: S311  jitter, not a secret
