"""The record of every call that was made, whatever came of it."""

from django.db import connection
from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.llm.client import Answer, CallFailed
from judge.models import JudgeAttempt
from judge.services.claiming import Claim

# The database's clock, as django.db.models.functions.Now writes it.
_NOW = {"postgresql": "STATEMENT_TIMESTAMP()", "sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')"}
# By hand: the ORM takes three times as long to build this row, and every call of a model needs one.
_OPEN = """
INSERT INTO {attempts} (comparison_id, claim_token, number, outcome, prompt_hash, raw_response, problems, finish_reason,
    model_returned, started_at)
VALUES (%s, %s, %s, %s, %s, '', '[]', '', '', {now}) RETURNING id
"""


def open_attempt(claimed: Claim, number: int, prompt_hash: str) -> JudgeAttempt:
    """Write a call down before it is made: if this process dies in it, the call still counts."""
    token = JudgeAttempt._meta.get_field("claim_token").get_db_prep_value(claimed.token, connection)
    with connection.cursor() as cursor:
        cursor.execute(
            _OPEN.format(attempts=JudgeAttempt._meta.db_table, now=_NOW[connection.vendor]),
            [claimed.comparison_id, token, number, JudgeAttempt.STARTED, prompt_hash],
        )
        (pk,) = cursor.fetchone()
    return JudgeAttempt(pk=pk, comparison_id=claimed.comparison_id, number=number, prompt_hash=prompt_hash)


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
    open_still = JudgeAttempt.objects.filter(pk=attempt.pk, outcome=JudgeAttempt.STARTED)
    open_still.update(**values, ended_at=Now())
