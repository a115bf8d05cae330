"""Codes of everything that can go wrong with a comparison, and the base of the domain's exceptions."""

from enum import StrEnum


class ErrorCode(StrEnum):
    """Why an LLM call, or the whole comparison, failed. Stored on attempts and comparisons."""

    CONNECTION_FAILED = "connection_failed"
    ADDRESS_REFUSED = "address_refused"  # by our own rules, not by the server
    TIMEOUT_FIRST_TOKEN = "timeout_first_token"  # noqa: S105 (no password)
    TIMEOUT_SILENCE = "timeout_silence"
    TIMEOUT_TOTAL = "timeout_total"
    RATE_LIMITED = "rate_limited"
    INSUFFICIENT_QUOTA = "insufficient_quota"
    UNAUTHORIZED = "unauthorized"
    SERVER_ERROR = "server_error"
    MODEL_NOT_FOUND = "model_not_found"
    BAD_REQUEST = "bad_request"
    TOO_LONG = "too_long"
    PROTOCOL_ERROR = "protocol_error"
    TRUNCATED = "truncated"
    LENGTH = "length"
    REFUSED = "refused"
    EMPTY = "empty"
    INVALID_JSON = "invalid_json"
    INVALID_VERDICT = "invalid_verdict"
    TOO_LARGE = "too_large"
    STREAM_RESET = "stream_reset"
    KEY_UNREADABLE = "key_unreadable"  # by none of the keys that this process has
    NOT_ALLOWED = "not_allowed"  # the provider may not receive the threads
    STORAGE = "storage"  # the database can store nothing: disk full, read-only
    POISON = "poison"
    CANCELLED = "cancelled"
    STALE_ATTEMPT = "stale_attempt"
    INTERNAL_ERROR = "internal_error"


class DomainError(Exception):
    """Base of all errors of this layer.

    `code` is a stable word that a caller can look up and translate; the message is English, for developers, and never
    holds a sentence of a thread or of an answer.
    """

    code: str

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or str(code))
        self.code = code
