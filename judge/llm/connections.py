"""Clients of providers, one per address and key, and the names of what goes wrong before an answer begins."""

import logging
import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx2
import openai

from judge.domain.errors import ErrorCode
from judge.llm.addresses import AddressRefused, check_address
from judge.llm.budget import CallBudget, Limits
from judge.llm.endpoint import Endpoint
from judge.llm.failures import SENTENCES, CallFailed, failure_of_status
from judge.llm.transport import REFUSED_ADDRESS, ProviderTransport

_E = ErrorCode

_MAX_CONNECTIONS: Final = 64
_MAX_CLIENTS: Final = 64
_WRITE_SECONDS: Final = 30.0

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


def timeouts(limits: Limits) -> httpx2.Timeout:
    """The limits as far as the HTTP library keeps them; the call's budget keeps the rest."""
    return httpx2.Timeout(limits.silence, connect=limits.connect, write=_WRITE_SECONDS, pool=limits.connect)


@contextmanager
def named_failures(api_key: str, budget: CallBudget) -> Iterator[None]:
    """Whatever fails until a response with a good status is there becomes a CallFailed with its own code."""
    try:
        yield
    except openai.APIStatusError as error:
        raise failure_of_status(error.status_code, error.response.headers, error.body, api_key) from None
    except openai.APIConnectionError as error:
        raise _failure_before_answer(error.__cause__, budget) from None
    except AddressRefused as refused:
        raise CallFailed(_E.ADDRESS_REFUSED, f"address refused: {refused.code}") from None
    except (UnicodeEncodeError, openai.OpenAIError, httpx2.InvalidURL) as error:
        raise CallFailed(_E.BAD_REQUEST, f"the request cannot be sent: {type(error).__name__}") from None


def _build_client(endpoint: Endpoint) -> openai.OpenAI:
    check_address(endpoint.base_url, endpoint.local_hosts, resolve=False)
    # At DEBUG the library logs whole requests, that is thread texts.
    logging.getLogger("openai").setLevel(logging.WARNING)
    transport = ProviderTransport(endpoint.local_hosts, bool(endpoint.api_key), _MAX_CONNECTIONS)
    client = openai.OpenAI(
        base_url=endpoint.base_url,
        api_key=endpoint.api_key or "none",
        admin_api_key="",
        organization="",
        project="",
        max_retries=0,
        http_client=httpx2.Client(transport=transport, follow_redirects=False, trust_env=False),
    )
    # A client that made room for others may still be in use: its connections are closed when the last call has ended.
    weakref.finalize(client, transport.close).atexit = False
    return client


def _failure_before_answer(cause: BaseException | None, budget: CallBudget) -> CallFailed:
    if budget.failure is not None:
        return CallFailed(budget.failure, SENTENCES[budget.failure])
    known = cause if isinstance(cause, httpx2.TransportError) else None
    # httpcore has no class of its own for a server that hangs up; everything else there is bytes that are not HTTP.
    if isinstance(known, httpx2.RemoteProtocolError) and not str(known).startswith("Server disconnected"):
        return CallFailed(_E.PROTOCOL_ERROR, "the server does not speak HTTP as expected")
    reason = str(known) if isinstance(known, httpx2.ConnectError | httpx2.ConnectTimeout) else type(cause).__name__
    return CallFailed(_E.ADDRESS_REFUSED if reason == REFUSED_ADDRESS else _E.CONNECTION_FAILED, reason)
