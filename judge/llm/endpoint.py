"""One model at one address: all that a call needs to know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

StructuredOutputMode = Literal["json_schema", "json_object", "text"]


@dataclass(frozen=True)
class Endpoint:
    """A model at an OpenAI-compatible server.

    `base_url` ends in /v1 or the like; `parameters` are sent with each call (temperature, seed ...); `local_hosts` are
    the operator's exceptions to the address rules; `may_omit_finish_reason` is for servers known to end a complete
    stream with [DONE] alone; `refused_parameters` are fields of a request that this model is known to refuse: the limit
    of the output then goes under its other name, and the wish for a usage report is left out.
    """

    provider_id: int | None
    base_url: str
    api_key: str = field(repr=False)
    model_name: str
    structured_output: StructuredOutputMode = "json_schema"
    parameters: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    local_hosts: tuple[str, ...] = ()
    may_omit_finish_reason: bool = False
    refused_parameters: frozenset[str] = frozenset()
