"""The record of every call that was made, whatever came of it."""

from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.llm.client import Answer, CallFailed
from judge.models import JudgeAttempt
from judge.services.claiming import Claim


def open_attempt(claimed: Claim, number: int, prompt_hash: str) -> JudgeAttempt:
    """Write a call down before it is made: if this process dies in it, the call still counts."""
    return JudgeAttempt.objects.create(
        comparison_id=claimed.comparison_id, claim_token=claimed.token, number=number, prompt_hash=prompt_hash
    )


def close_answered(attempt: JudgeAttempt, answer: Answer, outcome: str, problems: tuple[str, ...] = ()) -> None:
    """Complete the record of a call that was answered, accepted or not."""
    _close(
        attempt,
        outcome=outcome,
        problems=list(problems),
        raw_response=storable(answer.text),
        http_status=answer.http_status,
        finish_reason=(answer.finish_reason or "")[:40],
        model_returned=(answer.model_returned or "")[:200],
        prompt_tokens=answer.prompt_tokens,
        completion_tokens=answer.completion_tokens,
        latency_ms=answer.latency_ms,
        first_token_ms=answer.first_token_ms,
    )


def close_failed(attempt: JudgeAttempt, failure: CallFailed, code: ErrorCode) -> None:
    """Complete the record of a call that brought no answer."""
    _close(
        attempt,
        outcome=code,
        raw_response=storable(failure.partial_text),
        http_status=failure.http_status,
        finish_reason=(failure.finish_reason or "")[:40],
        model_returned=(failure.model_returned or "")[:200],
        latency_ms=failure.latency_ms,
        first_token_ms=failure.first_token_ms,
    )


def close_broken(attempt: JudgeAttempt) -> None:
    """Complete the record of a call in which our own code failed."""
    _close(attempt, outcome=ErrorCode.INTERNAL_ERROR)


def storable(text: str) -> str:
    """The text with what no database stores (NUL, lone surrogates) written as backslash escapes."""
    return text.encode("utf-8", "backslashreplace").decode().replace("\x00", "\\x00")


def _close(attempt: JudgeAttempt, **values: object) -> None:
    # By queryset: the session may have been deleted while the model was answering. And once only: where the answer to a
    # commit got lost and the transaction is repeated, the call that was accepted must not turn into a stale one.
    JudgeAttempt.objects.filter(pk=attempt.pk, outcome=JudgeAttempt.STARTED).update(ended_at=Now(), **values)
