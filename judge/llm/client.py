"""One call to an OpenAI-compatible server: streamed, bounded, and every failure under its own code."""

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import Any, Final

import httpx2
import openai

from judge.domain.errors import ErrorCode
from judge.llm.addresses import AddressRefused, check_address
from judge.llm.answers import Answer, AnswerCollector
from judge.llm.budget import CallBudget, Limits, running
from judge.llm.endpoint import Endpoint
from judge.llm.failures import CallFailed, failure_of_status
from judge.llm.sse import EventParser, EventTooLarge
from judge.llm.transport import REFUSED_ADDRESS, ProviderTransport

__all__ = ["Answer", "CallFailed", "Limits", "client_for", "stream_chat"]

_E = ErrorCode

_MAX_CONNECTIONS: Final = 64
_MAX_CLIENTS: Final = 64
_WRITE_SECONDS: Final = 30.0
# Whoever sets one of these as a model parameter would change what is asked or how the answer is read.
_RESERVED_PARAMETERS: Final = frozenset({"messages", "model", "stream", "stream_options", "response_format", "n"})

_clients: OrderedDict[tuple[Any, ...], openai.OpenAI] = OrderedDict()
_clients_lock = threading.Lock()


def client_for(endpoint: Endpoint) -> openai.OpenAI:
    """The client of a provider, one per process, address and key, for use by all threads; building one is dear.

    No retries, no redirects, no proxies or headers from the environment. Raises AddressRefused.
    """
    # The process id keeps a forked worker from sharing its parent's sockets.
    key = (os.getpid(), endpoint.provider_id, endpoint.base_url, endpoint.api_key, endpoint.local_hosts)
    with _clients_lock:
        client = _clients.get(key)
        if client is None:
            client = _clients[key] = _build_client(endpoint)
            if len(_clients) > _MAX_CLIENTS:
                _clients.popitem(last=False)
        else:
            _clients.move_to_end(key)
    return client


def stream_chat(
    endpoint: Endpoint,
    messages: list[dict[str, Any]],
    schema: dict[str, Any],
    limits: Limits,
    max_tokens: int | None,
    on_text: Callable[[str], None],
    stop: Callable[[], bool],
) -> Answer:
    """Ask once and stream the answer.

    `on_text` gets every piece of text as it arrives. `stop` is asked before every receive, at least every 0.25 s, and
    ends the call (`cancelled`). What either raises is passed on; the connection is closed all the same. Raises
    CallFailed for everything else that brings no complete answer.
    """
    budget = CallBudget(limits, stop)
    collector = AnswerCollector(budget, on_text, endpoint.api_key)
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


def _build_client(endpoint: Endpoint) -> openai.OpenAI:
    check_address(endpoint.base_url, endpoint.local_hosts, resolve=False)
    # At DEBUG the library logs whole requests, that is thread texts.
    logging.getLogger("openai").setLevel(logging.WARNING)
    transport = ProviderTransport(endpoint.local_hosts, bool(endpoint.api_key), _MAX_CONNECTIONS)
    return openai.OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "none",
        admin_api_key="",
        organization="",
        project="",
        max_retries=0,
        http_client=httpx2.Client(transport=transport, follow_redirects=False, trust_env=False),
    )


def _request(
    endpoint: Endpoint, messages: list[dict[str, Any]], schema: dict[str, Any], max_tokens: int | None
) -> dict[str, Any]:
    """The body of the request, apart from what every request has alike."""
    parameters = dict(endpoint.parameters)
    if reserved := _RESERVED_PARAMETERS & parameters.keys():
        raise CallFailed(_E.BAD_REQUEST, f"the model parameter {min(reserved)} is reserved")
    if max_tokens is not None:
        # Reasoning models know the limit under another name only.
        name = "max_completion_tokens" if "max_completion_tokens" in parameters else "max_tokens"
        parameters[name] = max_tokens
    if endpoint.structured_output == "json_schema":
        shape = {"name": "verdict", "strict": True, "schema": schema}
        parameters["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif endpoint.structured_output == "json_object":
        parameters["response_format"] = {"type": "json_object"}
    return {"messages": messages, **parameters}


def _exchange(endpoint: Endpoint, request: dict[str, Any], budget: CallBudget, collector: AnswerCollector) -> None:
    with ExitStack() as stack:
        _read(_open(endpoint, request, budget, stack), budget, collector)


def _open(endpoint: Endpoint, request: dict[str, Any], budget: CallBudget, stack: ExitStack) -> httpx2.Response:
    """Send the request and read the headers of a successful answer."""
    limits = budget.limits
    timeout = httpx2.Timeout(limits.silence, connect=limits.connect, write=_WRITE_SECONDS, pool=limits.connect)
    try:
        completions = client_for(endpoint).chat.completions.with_streaming_response
        # The extra body replaces the empty messages and goes out as it is; arguments are walked through one by one.
        opened = completions.create(
            model=endpoint.model_name,
            messages=[],
            stream=True,
            stream_options={"include_usage": True},
            timeout=timeout,
            extra_body=request,
        )
        return stack.enter_context(opened).http_response
    except openai.APIStatusError as error:
        raise failure_of_status(error.status_code, error.response.headers, error.body, endpoint.api_key) from None
    except openai.APIConnectionError as error:
        raise _failure_before_answer(error.__cause__, budget) from None
    except AddressRefused as refused:
        raise CallFailed(_E.ADDRESS_REFUSED, f"address refused: {refused.code}") from None
    except (UnicodeEncodeError, openai.OpenAIError, httpx2.InvalidURL) as error:
        raise CallFailed(_E.BAD_REQUEST, f"the request cannot be sent: {type(error).__name__}") from None


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
        raise CallFailed(code, _SENTENCES.get(code, type(error).__name__)) from None


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


_SENTENCES: Final[Mapping[ErrorCode, str]] = {
    _E.TIMEOUT_FIRST_TOKEN: "no text within the time limit",
    _E.TIMEOUT_SILENCE: "no further text within the time limit",
    _E.TIMEOUT_TOTAL: "the call took too long in all",
    _E.TOO_LARGE: "more bytes than the limit",
    _E.CANCELLED: "stopped during the call",
    _E.STREAM_RESET: "the connection broke in mid-stream",
}


def _failure_before_answer(cause: BaseException | None, budget: CallBudget) -> CallFailed:
    if budget.failure is not None:
        return CallFailed(budget.failure, _SENTENCES[budget.failure])
    known = cause if isinstance(cause, httpx2.TransportError) else None
    # httpcore has no class of its own for a server that hangs up; everything else there is bytes that are not HTTP.
    if isinstance(known, httpx2.RemoteProtocolError) and not str(known).startswith("Server disconnected"):
        return CallFailed(_E.PROTOCOL_ERROR, "the server does not speak HTTP as expected")
    reason = str(known) if isinstance(known, httpx2.ConnectError | httpx2.ConnectTimeout) else type(cause).__name__
    return CallFailed(_E.ADDRESS_REFUSED if reason == REFUSED_ADDRESS else _E.CONNECTION_FAILED, reason)


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
