"""One call to an OpenAI-compatible server: streamed, bounded, and every failure under its own code."""

import json
from collections.abc import Callable, Collection
from contextlib import ExitStack
from typing import Any, Final, cast

import httpx2
import openai

from judge.domain.errors import ErrorCode
from judge.llm.answers import Answer, AnswerCollector
from judge.llm.budget import CallBudget, Limits, running
from judge.llm.connections import client_for, named_failures, timeouts
from judge.llm.endpoint import Endpoint
from judge.llm.failures import SENTENCES, CallFailed
from judge.llm.sse import EventParser, EventTooLarge
from judge.llm.thinking import WatchedText

__all__ = ["Answer", "CallFailed", "Limits", "client_for", "stream_chat"]

_E = ErrorCode

_LIMIT_NAMES: Final = ("max_tokens", "max_completion_tokens")
# Whoever sets one of these as a model parameter would change what is asked or how the answer is read.
RESERVED_PARAMETERS: Final = frozenset({"messages", "model", "stream", "stream_options", "response_format", "n"})


def stream_chat(
    endpoint: Endpoint,
    messages: list[dict[str, Any]],
    schema: dict[str, Any],
    limits: Limits,
    max_tokens: int | None,
    on_text: Callable[[str], None],
    stop: Callable[[], bool],
    last_words: str = "",
) -> Answer:
    """Ask once and stream the answer.

    `on_text` gets every piece of text as it arrives, but for blanks and reasoning before the answer. `stop` is asked
    before every receive, at least every 0.25 s, and ends the call (`cancelled`). What either raises is passed on; the
    connection is closed all the same. `last_words` is a text that stands near the end of the answer: before it pieces
    may be received together, at most 25 ms late; without it each is received as it comes. Raises CallFailed for
    everything else that brings no complete answer.
    """
    budget = CallBudget(limits, stop)
    collector = AnswerCollector(budget, WatchedText(on_text).add, endpoint.api_key, last_words)
    try:
        if stop():
            raise CallFailed(_E.CANCELLED, "stopped before the call")
        with running(budget):
            _exchange(endpoint, _request(endpoint, messages, schema, max_tokens), budget, collector)
        collector.raise_unless_usable(endpoint.may_omit_finish_reason)
    except CallFailed as failure:
        raise _completed(failure, budget, collector) from None
    return Answer(
        text=collector.text,
        reasoning_text=collector.reasoning_text,
        finish_reason=collector.finish_reason,
        model_returned=collector.model_returned,
        prompt_tokens=collector.prompt_tokens,
        completion_tokens=collector.completion_tokens,
        latency_ms=budget.elapsed_ms(),
        first_token_ms=collector.first_token_ms,
        http_status=collector.http_status,
    )


def _request(
    endpoint: Endpoint, messages: list[dict[str, Any]], schema: dict[str, Any], max_tokens: int | None
) -> dict[str, Any]:
    """The body of the request, apart from what every request has alike."""
    parameters = dict(endpoint.parameters)
    if reserved := RESERVED_PARAMETERS & parameters.keys():
        failure = CallFailed(_E.BAD_REQUEST, f"the model parameter {min(reserved)} is reserved")
        failure.parameter = min(reserved)
        raise failure
    _set_limit(parameters, endpoint.refused_parameters, max_tokens)
    if endpoint.structured_output == "json_schema":
        shape = {"name": "verdict", "strict": True, "schema": schema}
        parameters["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif endpoint.structured_output == "json_object":
        parameters["response_format"] = {"type": "json_object"}
    return {"messages": messages, **parameters}


def _set_limit(parameters: dict[str, Any], refused: Collection[str], max_tokens: int | None) -> None:
    """Put the limit of the output under the name that the model takes: reasoning models know the new one only, older
    servers only the old one. A model that refuses both gets no limit."""
    names = [name for name in reversed(_LIMIT_NAMES) if name in parameters]
    limits = [parameters.pop(name) for name in names]
    limit = max_tokens if max_tokens is not None else next(iter(limits), None)
    accepted = [name for name in [*names, *_LIMIT_NAMES] if name not in refused]
    if limit is not None and accepted:
        parameters[accepted[0]] = limit


def _exchange(endpoint: Endpoint, request: dict[str, Any], budget: CallBudget, collector: AnswerCollector) -> None:
    with ExitStack() as stack:
        _read(_open(endpoint, request, budget, stack), budget, collector)


def _open(endpoint: Endpoint, request: dict[str, Any], budget: CallBudget, stack: ExitStack) -> httpx2.Response:
    """Send the request and read the headers of a successful answer."""
    body = {"model": endpoint.model_name, "stream": True, **request}
    if "stream_options" not in endpoint.refused_parameters:
        body["stream_options"] = {"include_usage": True}
    with named_failures(endpoint.api_key, budget):
        # The library's way for what it has no method for: its method for completions walks through every argument.
        opened = client_for(endpoint).post(
            "/chat/completions",
            content=json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(),
            cast_to=object,
            options={"timeout": timeouts(budget.limits), "headers": {"X-Stainless-Raw-Response": "stream"}},
            stream=True,
            stream_cls=openai.Stream[object],
        )
        response = cast(openai.APIResponse[object], opened)
        stack.callback(response.close)
        return response.http_response


def _read(response: httpx2.Response, budget: CallBudget, collector: AnswerCollector) -> None:
    collector.http_status = response.status_code
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind.startswith("text/html"):
        raise CallFailed(_E.PROTOCOL_ERROR, "HTML instead of an answer")
    try:
        if kind.endswith("json") and not kind.endswith(("ndjson", "jsonl")):
            collector.take_completion(b"".join(response.iter_raw()))
        else:
            _read_events(response, EventParser(budget.limits.max_bytes), collector)
    except EventTooLarge:
        raise CallFailed(_E.TOO_LARGE, "one event is larger than the limit") from None
    except httpx2.TransportError as error:
        over = budget.failure
        if over not in (_E.CANCELLED, _E.TOO_LARGE) and (collector.is_complete or collector.done):
            return  # Everything that matters was there; only the end of the response is missing.
        code = over or _E.STREAM_RESET
        raise CallFailed(code, SENTENCES.get(code, type(error).__name__)) from None


def _read_events(response: httpx2.Response, parser: EventParser, collector: AnswerCollector) -> None:
    for data in response.iter_raw():
        for event in parser.feed(data):
            collector.take_event(event)
    try:
        for event in parser.finish():
            collector.take_event(event)
    except CallFailed as failure:
        # The last event was cut off in its middle, so it is the stream that ended early, not the event that is wrong.
        if failure.code is not _E.PROTOCOL_ERROR:
            raise


def _completed(failure: CallFailed, budget: CallBudget, collector: AnswerCollector) -> CallFailed:
    """The failure together with everything that is known about the call."""
    failure.http_status = failure.http_status or collector.http_status or None
    failure.partial_text = collector.text
    failure.reasoning_text = collector.reasoning_text
    failure.latency_ms = budget.elapsed_ms()
    failure.first_token_ms = collector.first_token_ms
    failure.finish_reason = collector.finish_reason
    failure.model_returned = collector.model_returned
    failure.prompt_tokens = collector.prompt_tokens
    failure.completion_tokens = collector.completion_tokens
    return failure
