"""Sends a reply over ASGI: pieces at their moments, and the ways in which a stream can break."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from judge.simulated.replies import Reply, completion_body, error_body, moments, reasoning_events, stream_events

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

# Where the server leaves the connection for the app, which ASGI itself cannot break off.
TRANSPORT_KEY: Final = "simulated.transport"
_ENDLESS_SECONDS: Final = 120.0
_KEEPALIVE_SECONDS: Final = 0.1


async def send_reply(reply: Reply, include_usage: bool, scope: Scope, send: Send) -> None:
    """Send a whole reply, streamed or not, with its faults."""
    started = asyncio.get_running_loop().time()
    if reply.body is not None or not reply.stream:
        await _until(started + reply.latency_ms / 1000)
        if reply.break_kind == "reset":
            _abort(scope)
            return
        body = completion_body(reply) if reply.body is None else reply.body
        await send_body(send, reply.status, body, reply.content_type, reply.headers)
        return
    await _start(send, 200, "text/event-stream; charset=utf-8", {"cache-control": "no-cache", **reply.headers})
    before, pieces, after = stream_events(reply, include_usage)
    if reply.break_kind:
        pieces, after = pieces[: int(len(pieces) * reply.break_share)], []
    reasoning = reasoning_events(reply)
    if reply.reasoning_ms > 0:
        await _write(send, b"".join(before))
        for moment, piece in zip(moments(reply.reasoning_ms, 0, len(reasoning)), reasoning, strict=True):
            await _until(started + moment)
            await _write(send, piece)
        before, started = [], started + reply.reasoning_ms / 1000
    else:
        before += reasoning
    if reply.write_bytes is not None:
        whole = b"".join(before + pieces + after)
        before, after = [], []
        pieces = [whole[at : at + reply.write_bytes] for at in range(0, len(whole), reply.write_bytes)]
    await _pieces(reply, before, pieces, after, started, send)
    if reply.break_kind and await _break(reply, scope, send):
        return
    await send({"type": "http.response.body", "body": b""})


async def send_body(
    send: Send, status: int, body: bytes, content_type: str = "application/json", headers: dict[str, str] | None = None
) -> None:
    """Send a response in one piece."""
    await _start(send, status, content_type, {"content-length": str(len(body)), **(headers or {})})
    await send({"type": "http.response.body", "body": body})


async def _start(send: Send, status: int, content_type: str, headers: dict[str, str]) -> None:
    raw = [(b"content-type", content_type.encode())]
    raw += [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def _pieces(
    reply: Reply, before: list[bytes], pieces: list[bytes], after: list[bytes], started: float, send: Send
) -> None:
    if reply.latency_ms <= 0 and reply.write_bytes is None:
        await _write(send, b"".join(before + pieces + after))
        return
    await _write(send, b"".join(before))
    for moment, piece in zip(
        moments(reply.latency_ms, reply.settings.first_token_share, len(pieces)), pieces, strict=True
    ):
        await _until(started + moment)
        await _write(send, piece)
    await _write(send, b"".join(after))


async def _write(send: Send, data: bytes) -> None:
    if data:
        await send({"type": "http.response.body", "body": data, "more_body": True})


async def _until(moment: float) -> None:
    # From the start and not from the piece before, so that late pieces do not add up.
    wait = moment - asyncio.get_running_loop().time()
    if wait > 0:
        await asyncio.sleep(wait)


async def _break(reply: Reply, scope: Scope, send: Send) -> bool:
    """Play the fault at the end of a stream. True: the connection is gone, nothing more can be sent."""
    options, kind = reply.break_options, reply.break_kind
    if kind == "reset":
        await asyncio.sleep(0.02)
        _abort(scope)
        return True
    if kind == "error_in_stream":
        code, error_type = options.get("code"), str(options.get("type", "server_error"))
        await _write(send, b"data: " + error_body("simulated failure", error_type, code) + b"\n\n")
    elif kind == "malformed_events":
        await _write(send, str(options.get("data", 'data: {"choices": [{"delta"\n\n')).encode())
    elif kind == "silence":
        await _endless(scope, send, b"", float(options.get("seconds", _ENDLESS_SECONDS)))
    elif kind == "keepalive_forever":
        await _endless(scope, send, b": keep-alive\n\n", float(options.get("seconds", _ENDLESS_SECONDS)))
    elif kind == "endless_newlines":
        await _flood(scope, send, b"\n" * 65_536)
    elif kind == "too_many_bytes":
        event = stream_events(Reply("x" * 20_000, reply.model, reply.settings, send_done=False), False)[1]
        await _flood(scope, send, b"".join(event))
    return _is_gone(scope)


async def _endless(scope: Scope, send: Send, data: bytes, seconds: float) -> None:
    end = asyncio.get_running_loop().time() + seconds
    while not _is_gone(scope) and asyncio.get_running_loop().time() < end:
        await _write(send, data)
        await asyncio.sleep(_KEEPALIVE_SECONDS)


async def _flood(scope: Scope, send: Send, data: bytes) -> None:
    """More than any client should take: 64 MB, or until it hangs up."""
    for _ in range(max(1, 64_000_000 // len(data))):
        if _is_gone(scope):
            return
        await _write(send, data)
        await asyncio.sleep(0)


def _is_gone(scope: Scope) -> bool:
    transport = scope.get(TRANSPORT_KEY)
    return transport is not None and transport.is_closing()


def _abort(scope: Scope) -> None:
    """Reset the connection: with a linger time of zero the kernel sends RST instead of FIN."""
    transport = scope.get(TRANSPORT_KEY)
    if transport is None:
        raise RuntimeError("the server does not give its connection away")
    connection = transport.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
