"""Judging the session in this process and telling each verdict as it comes."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.db import connections

from judge.domain.states import SessionStatus, Winner
from judge.models import JudgeAttempt, JudgeEvaluation, JudgeSession
from judge.services import control
from judge.services.foreground import judge_in_foreground
from judge.services.leases import STOPPING

POLL_SECONDS = 0.5
STOP_SECONDS = 10.0
# A model this small now and then never ends a text. The program's own "retry failed" asks again for those.
MOST_RETRIES = 3

Say = Callable[[str], None]
Tend = Callable[[], list[str]]


@dataclass(frozen=True)
class Judged:
    """How many verdicts are valid, why not more, and what it took in seconds."""

    valid: int
    shortfall: str
    seconds: float


def follow(session: JudgeSession, tend: Tend, say: Say, timeout: float) -> Judged:
    """Judge until the session has ended, again for what failed, and say each verdict.

    Raises:
        ProgramFailed: the model's server died; running calls are cut.
    """
    began = time.monotonic()
    told: set[int] = set()
    for round_number in range(MOST_RETRIES + 1):
        if round_number:
            say(f"  {session.failed_comparisons} comparison(s) failed ({_codes(session)}) and are judged again")
            control.retry_failed(session.pk)
        with _judging(session.pk) as ended:
            while not ended.wait(POLL_SECONDS) and time.monotonic() - began < timeout:
                tend()
                _tell(session, told, say)
        _tell(session, told, say)
        session.refresh_from_db()
        if not session.failed_comparisons or time.monotonic() - began >= timeout:
            break
    seconds = time.monotonic() - began
    valid = session.completed_comparisons if session.status == SessionStatus.COMPLETED else 0
    return Judged(valid, f"session {session.status} ({_codes(session) or 'no error'}) after {seconds:.0f} s", seconds)


@contextmanager
def _judging(session_id: int) -> Iterator[threading.Event]:
    """Judge in a thread; the event says that it has ended. Left before, running calls are cut and given back.

    An event and not the thread itself: a signal during ``join`` makes Python take a running thread for an ended one.
    """
    ended = threading.Event()

    def work() -> None:
        try:
            for _ in judge_in_foreground(session_id, POLL_SECONDS):
                if STOPPING.is_set():
                    return  # which closes the iterator, and that stops the lanes
        finally:
            connections.close_all()
            ended.set()

    threading.Thread(target=work, name="judging", daemon=True).start()
    try:
        yield ended
    finally:
        if not ended.is_set():
            STOPPING.set()
            ended.wait(STOP_SECONDS)


def _tell(session: JudgeSession, told: set[int], say: Say) -> None:
    fresh = JudgeEvaluation.objects.filter(comparison__session=session).exclude(pk__in=told).order_by("pk")
    for evaluation in fresh.select_related("comparison__pair__thread_a", "comparison__pair__thread_b"):
        told.add(evaluation.pk)
        say(f"  {len(told)}/{session.total_comparisons}  {verdict_line(evaluation)}")


def verdict_line(evaluation: JudgeEvaluation) -> str:
    """Pair, winner, confidence, times and tokens of one verdict; A is the thread that was shown first."""
    shown = evaluation.comparison
    first, second = shown.shown_first.external_id, shown.shown_second.external_id
    winner = {Winner.A: f"A ({first})", Winner.B: f"B ({second})"}.get(Winner(evaluation.winner), "tie")
    return (
        f"A {first}, B {second}: winner {winner}, confidence {evaluation.confidence:.2f}, "
        f"{_seconds(evaluation.latency_ms)} (first text after {_seconds(evaluation.first_token_ms)}), "
        f"{_count(evaluation.prompt_tokens)} + {_count(evaluation.completion_tokens)} tokens"
    )


def _seconds(milliseconds: int | None) -> str:
    return "unknown" if milliseconds is None else f"{milliseconds / 1000:.1f} s"


def _count(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _codes(session: JudgeSession) -> str:
    """The codes of refused answers, in alphabetical order."""
    refused = JudgeAttempt.objects.filter(comparison__session=session)
    refused = refused.exclude(outcome__in=(JudgeAttempt.ACCEPTED, JudgeAttempt.STARTED))
    return ", ".join(sorted(set(refused.values_list("outcome", flat=True))))
