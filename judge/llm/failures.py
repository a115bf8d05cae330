"""Why a call failed, from a status, an error body or a broken connection; never the provider's own sentences."""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

from judge.domain.errors import ErrorCode

_E = ErrorCode

_MAX_RETRY_AFTER: Final = 86_400.0
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.\[\]-]{0,63}")
_QUOTA_CODES: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
)
_REFUSAL_CODES: Final = frozenset({"content_filter", "content_policy_violation", "moderation_blocked"})
_LENGTH_CODES: Final = frozenset({"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"})
_RATE_CODES: Final = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "requests", "tokens"})
_MODEL_CODES: Final = frozenset({"model_not_found", "model_not_available", "invalid_model"})
_LENGTH_TEXT = re.compile(
    r"context (?:length|window|size)|maximum (?:context|model|prompt|input) length|prompt is too long"
    r"|(?:input|prompt|request)[^.]{0,40} too (?:long|many tokens)|too many (?:input )?tokens",
    re.IGNORECASE,
)
_MODEL_TEXT = re.compile(
    r"\bmodel\b.{0,200}(?:not found|does not exist|not available|unknown)|(?:unknown|invalid|no such) model",
    re.IGNORECASE | re.DOTALL,
)
_REQUEST_FIELDS: Final = (
    "response_format",
    "json_schema",
    "stream_options",
    "max_completion_tokens",
    "max_tokens",
    "temperature",
    "top_p",
    "seed",
    "reasoning_effort",
    "messages",
)

SENTENCES: Final[Mapping[ErrorCode, str]] = {
    _E.TIMEOUT_FIRST_TOKEN: "no text within the time limit",
    _E.TIMEOUT_SILENCE: "no further text within the time limit",
    _E.TIMEOUT_TOTAL: "the call took too long in all",
    _E.TOO_LARGE: "more bytes than the limit",
    _E.CANCELLED: "stopped during the call",
    _E.STREAM_RESET: "the connection broke in mid-stream",
}


class CallFailed(Exception):
    """One call that brought no answer.

    `code` says why; `message` is short English for operators, without content and without key. `partial_text` is what
    had arrived, exactly; `retry_after` is the provider's wish in seconds; `parameter` is the field of the request that
    the server complains of, if it names one. Times are milliseconds from the start.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        http_status: int | None = None,
        retry_after: float | None = None,
        partial_text: str = "",
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.http_status = http_status
        self.retry_after = retry_after
        self.partial_text = partial_text
        self.parameter = ""
        self.reasoning_text = ""
        self.latency_ms: int | None = None
        self.first_token_ms: int | None = None
        self.finish_reason: str | None = None
        self.model_returned: str | None = None
        self.prompt_tokens: int | None = None
        self.completion_tokens: int | None = None


def failure_of_status(status: int, headers: Mapping[str, str], body: Any, api_key: str) -> CallFailed:
    """The failure behind an HTTP error. `body` is decoded JSON (the error object or what holds it) or text."""
    error = _error_object(body)
    code = _code_of_status(status, error)
    message = _describe(f"HTTP {status}", error, api_key)
    wish = retry_after_seconds(headers) if status in (429, 503, 529) or status >= 500 else None
    failure = CallFailed(code, message, http_status=status, retry_after=wish)
    if code is _E.BAD_REQUEST:
        failure.parameter = _parameter(error, api_key)
    return failure


def failure_of_error_event(error: Any, api_key: str) -> CallFailed:
    """The failure behind an error object inside a stream that began with status 200."""
    fields = _error_object(error)
    words = _words(fields)
    code = _E.PROTOCOL_ERROR
    if words & _QUOTA_CODES:
        code = _E.INSUFFICIENT_QUOTA
    elif words & _RATE_CODES or "429" in words:
        code = _E.RATE_LIMITED
    elif words & _REFUSAL_CODES:
        code = _E.REFUSED
    elif _is_too_long(fields, words):
        code = _E.TOO_LONG
    return CallFailed(code, _describe("error inside the stream", fields, api_key), http_status=200)


def retry_after_seconds(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Seconds to wait by `retry-after-ms` or `Retry-After` (seconds or HTTP date, RFC 9110 section 10.2.3).

    Between 0 and a day; None without such a header or with a nonsensical one. A date is read against the server's own
    Date header, so that a wrong clock here does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _clamp(milliseconds / 1000)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return _clamp(seconds)
    moment = _date(value)
    if moment is None:
        return None
    served = _date(headers.get("date"))
    return _clamp(moment - (served if served is not None else time.time() if now is None else now))


def _code_of_status(status: int, error: Mapping[str, Any]) -> ErrorCode:
    words = _words(error)
    if status == 429:
        return _E.INSUFFICIENT_QUOTA if words & _QUOTA_CODES else _E.RATE_LIMITED
    if status == 402 or (status < 500 and words & _QUOTA_CODES):
        return _E.INSUFFICIENT_QUOTA
    if status < 500 and words & _REFUSAL_CODES:
        return _E.REFUSED
    if status in (401, 403, 407):
        return _E.UNAUTHORIZED
    if status == 413 or (status < 500 and _is_too_long(error, words)):
        return _E.TOO_LONG
    if status == 404 or (status < 500 and (words & _MODEL_CODES or _MODEL_TEXT.search(_text(error)))):
        return _E.MODEL_NOT_FOUND
    if status in (408, 409, 425) or status >= 500:
        return _E.SERVER_ERROR
    return _E.BAD_REQUEST


def _parameter(error: Mapping[str, Any], api_key: str) -> str:
    """The field of the request that an error is about: named by itself, by its place in the request, or in the text.

    Of several in a text the first counts: "'max_tokens' is not supported, use 'max_completion_tokens' instead".
    """
    named = error.get("param")
    if isinstance(details := error.get("detail"), list):
        places = [detail.get("loc") for detail in details if isinstance(detail, Mapping)]
        named = next((place[-1] for place in places if isinstance(place, list) and place), named)
    if isinstance(named, str) and _WORD.fullmatch(named) and not _holds_key(named, api_key):
        return named.partition(".")[0]
    text = _text(error)
    return min((field for field in _REQUEST_FIELDS if field in text), key=text.index, default="")


def _error_object(body: Any) -> Mapping[str, Any]:
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        if isinstance(inner, Mapping):
            return inner
        return {"message": inner} if isinstance(inner, str) else {}
    return {"message": body} if isinstance(body, str) else {}


def _words(error: Mapping[str, Any]) -> set[str]:
    return {str(error[key]).lower() for key in ("code", "type", "status") if isinstance(error.get(key), str | int)}


def _text(error: Mapping[str, Any]) -> str:
    message = error.get("message")
    return message[:4_000] if isinstance(message, str) else ""


def _is_too_long(error: Mapping[str, Any], words: set[str]) -> bool:
    return bool(words & _LENGTH_CODES) or _LENGTH_TEXT.search(_text(error)) is not None


def _describe(start: str, error: Mapping[str, Any], api_key: str) -> str:
    """Only single words that look like identifiers are taken over: a provider's sentence may quote the prompt or the
    key."""
    found = [start]
    for key in ("code", "type", "param"):
        value = error.get(key)
        if isinstance(value, str) and _WORD.fullmatch(value) and not _holds_key(value, api_key):
            found.append(f"{key} {value}")
    if not isinstance(error.get("param"), str) and (field := _parameter(error, api_key)):
        found.append(f"about {field}")
    return ", ".join(found)


def _holds_key(value: str, api_key: str) -> bool:
    return value.startswith("sk-") or (len(api_key) >= 4 and (api_key in value or value in api_key))


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _date(value: str | None) -> float | None:
    if value is None:
        return None
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _clamp(seconds: float) -> float:
    return min(max(seconds, 0.0), _MAX_RETRY_AFTER)
