"""Which models a server offers."""

import json
from collections.abc import Callable
from typing import Any

import httpx2

from judge.domain.errors import ErrorCode
from judge.llm.budget import CallBudget, Limits, running
from judge.llm.connections import client_for, named_failures, timeouts
from judge.llm.endpoint import Endpoint
from judge.llm.failures import SENTENCES, CallFailed

_NAME_LENGTH = 200


def list_models(endpoint: Endpoint, limits: Limits, stop: Callable[[], bool]) -> list[str]:
    """The names a server lists, sorted, without doublets. Bounded like a call; `stop` ends it.

    Raises CallFailed, also (protocol_error) for a list that is none.
    """
    budget = CallBudget(limits, stop)
    if stop():
        raise CallFailed(ErrorCode.CANCELLED, SENTENCES[ErrorCode.CANCELLED])
    with running(budget), named_failures(endpoint.api_key, budget):
        models = client_for(endpoint).models.with_streaming_response
        with models.list(timeout=timeouts(limits)) as opened:
            return _names(_body(opened.http_response, budget))


def _body(response: httpx2.Response, budget: CallBudget) -> Any:
    try:
        return json.loads(b"".join(response.iter_raw()))
    except httpx2.TransportError as error:
        code = budget.failure or ErrorCode.STREAM_RESET
        raise CallFailed(code, SENTENCES.get(code, type(error).__name__)) from None
    except (ValueError, RecursionError):
        raise CallFailed(ErrorCode.PROTOCOL_ERROR, "the list of models is not JSON") from None


def _names(document: Any) -> list[str]:
    """From {"data": [{"id": ...}]}; llama.cpp and Ollama know other forms besides, but all have this one."""
    entries = document.get("data") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        raise CallFailed(ErrorCode.PROTOCOL_ERROR, "the list of models is none")
    names = (entry.get("id") for entry in entries if isinstance(entry, dict))
    return sorted({name[:_NAME_LENGTH] for name in names if isinstance(name, str) and name.isprintable() and name})
