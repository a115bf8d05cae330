"""What a test of a provider found out, in codes and numbers. `judge.check_wording` puts it into words."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, Self

VERSION: Final = 1

OutputMode = Literal["json_schema", "json_object", "text"]
# From the firmest to the loosest way of telling a model the shape of its answer.
OUTPUT_MODES: Final[tuple[OutputMode, ...]] = ("json_schema", "json_object", "text")

ADDRESS_ALLOWED: Final = "allowed"
# Fields of a request that are ours to leave out or to rename; all others were set by a person.
OUR_FIELDS: Final = frozenset({"max_tokens", "max_completion_tokens", "stream_options"})

Connection = Literal["ok", "refused", "unknown_name", "tls_certificate", "tls_failed", "timeout", "not_tried"]
Key = Literal["accepted", "refused", "no_quota", "not_set", "unknown"]
Found = Literal["listed", "not_listed", "unknown"]
Streaming = Literal["streams", "whole", "unknown"]
Reported = Literal["reported", "missing", "unknown"]
Reasoning = Literal["none", "separate", "block", "unknown"]


@dataclass(frozen=True)
class Trial:
    """One question in one output mode. `outcome`: obeyed, not_obeyed (JSON, but not of the wanted shape), no_json, or
    the code of the failed call."""

    mode: str
    outcome: str
    latency_ms: int | None = None


@dataclass(frozen=True)
class ProviderFindings:
    """One test of one provider and at most one of its models.

    `address` is "allowed" or the code of its refusal; `problem` the error code that ended the test early, or "".
    `models` are the listed names, sorted, at most 200 of `models_total`. `model_name` is the model that was asked, ""
    if none could be chosen. `events` counts the pieces of text of the first good answer, `first_token_ms` and
    `total_ms` are its times; `median_latency_ms` is over all answered calls. `output_mode` is the first mode, from best
    to worst, that brought a valid answer, or "". `refused_parameters` are fields that the server refused in a request.
    """

    version: int = VERSION
    address: str = ADDRESS_ALLOWED
    connection: Connection = "not_tried"
    key: Key = "unknown"
    problem: str = ""
    models_listed: bool = False
    models: tuple[str, ...] = ()
    models_total: int = 0
    model_name: str = ""
    model_found: Found = "unknown"
    streaming: Streaming = "unknown"
    events: int | None = None
    first_token_ms: int | None = None
    total_ms: int | None = None
    usage: Reported = "unknown"
    finish_reason: Reported = "unknown"
    suggests_may_omit_finish_reason: bool = False
    output_mode: OutputMode | Literal[""] = ""
    trials: tuple[Trial, ...] = ()
    reasoning: Reasoning = "unknown"
    refused_parameters: tuple[str, ...] = ()
    median_latency_ms: int | None = None
    calls: int = 0
    duration_ms: int = 0

    @property
    def has_answered(self) -> bool:
        """Whether the model answered at all, so that something is known of it."""
        return self.streaming != "unknown"

    def as_json(self) -> dict[str, Any]:
        """What is stored: lists instead of tuples."""
        stored = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in stored.items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The findings as they were stored; what an older version did not know keeps its default."""
        known = {field.name: stored[field.name] for field in fields(cls) if field.name in stored}
        known["trials"] = tuple(Trial(**trial) for trial in stored.get("trials", ()))
        for name in ("models", "refused_parameters"):
            known[name] = tuple(stored.get(name, ()))
        return cls(**known)
