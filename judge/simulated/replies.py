"""An answer before it is sent, and its form on the wire: encoded once, cut into pieces, with a moment for each."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from judge.simulated.verdict import SimulatedSettings

FINGERPRINT: Final = "simulated, no LLM"
DEFAULT_MODEL: Final = "simulated-judge"
_CREATED: Final = 1_735_689_600
_PIECE: Final = 12
_CHARACTERS_PER_TOKEN: Final = 4


@dataclass
class Reply:
    """What will be sent; faults change it before that.

    `break_kind` names how the stream ends early after `break_share` of its pieces ("" = not); `break_options` are the
    fault's own values. `reasoning` comes before the text and takes `reasoning_ms`; `reasoning_field` says where it is:
    in "reasoning_content", in "reasoning", or in typed parts of the content ("parts"). With `write_bytes` the stream is
    written in pieces of so many bytes, across all boundaries.
    """

    text: str
    model: str
    settings: SimulatedSettings
    prompt_tokens: int = 0
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    content_type: str = "application/json"
    finish_reason: str | None = "stop"
    refusal: str | None = None
    usage: Any = None
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    reasoning_ms: float = 0.0
    send_done: bool = True
    stream: bool = True
    latency_ms: float = 0.0
    break_kind: str = ""
    break_share: float = 0.5
    break_options: dict[str, Any] = field(default_factory=dict)
    write_bytes: int | None = None

    def count_usage(self) -> None:
        """Set the usage from the texts' lengths."""
        completion = len(self.text) // _CHARACTERS_PER_TOKEN
        self.usage = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": self.prompt_tokens + completion,
        }


def answer_reply(text: str, model: str, prompt_characters: int, settings: SimulatedSettings) -> Reply:
    """An undisturbed reply with this text."""
    reply = Reply(text, model, settings, prompt_characters // _CHARACTERS_PER_TOKEN, latency_ms=settings.latency_ms)
    reply.count_usage()
    return reply


def error_body(message: str, kind: str, code: str | None = None, param: str | None = None) -> bytes:
    """An error in OpenAI's shape."""
    return json.dumps({"error": {"message": message, "type": kind, "param": param, "code": code}}).encode()


def completion_body(reply: Reply) -> bytes:
    """The reply as one chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    if reply.reasoning:
        message |= _reasoning(reply, reply.reasoning)
        if reply.reasoning_field == "parts":
            message["content"].append({"type": "text", "text": reply.text})
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason, "logprobs": None}
    head = _head(reply, "chat.completion")
    return json.dumps({**head, "choices": [choice], "usage": reply.usage}).encode("ascii")


def stream_events(reply: Reply, include_usage: bool) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """The reply as server-sent events: before the text, one per piece of text, and after it."""
    head = json.dumps(_head(reply, "chat.completion.chunk"))[:-1]
    # Only the piece differs between events, so everything around it is encoded once.
    start = f'data: {head}, "choices": [{{"index": 0, "delta": {{"content": '.encode()
    end = b'}, "logprobs": null, "finish_reason": null}]}\n\n'
    encode = json.JSONEncoder(ensure_ascii=reply.write_bytes is None).encode
    pieces = [
        b"%b%b%b" % (start, encode(piece).encode("utf-8", "surrogatepass"), end)
        for piece in cut(reply.text, reply.settings.chunks)
    ]
    before = [_event(head, {"role": "assistant", "content": "", "refusal": None}, None)]
    after = []
    if reply.refusal is not None:
        after.append(_event(head, {"refusal": reply.refusal}, None))
    if reply.finish_reason is not None:
        after.append(_event(head, {}, reply.finish_reason))
        if include_usage and reply.usage is not None:
            after.append(f'data: {head}, "choices": [], "usage": {json.dumps(reply.usage)}}}\n\n'.encode())
    if reply.send_done:
        after.append(b"data: [DONE]\n\n")
    return before, pieces, after


def reasoning_events(reply: Reply) -> list[bytes]:
    """The reasoning as server-sent events, sent before those of the text."""
    if not reply.reasoning:
        return []
    head = json.dumps(_head(reply, "chat.completion.chunk"))[:-1]
    return [_event(head, _reasoning(reply, piece), None) for piece in cut(reply.reasoning, None)]


def cut(text: str, chunks: int | None) -> list[str]:
    """The text in `chunks` pieces of about equal length (fewer if it is shorter), or in pieces of some characters."""
    if not text:
        return []
    count = min(len(text), max(1, chunks)) if chunks is not None else -(-len(text) // _PIECE)
    bounds = [len(text) * position // count for position in range(count + 1)]
    return [text[low:high] for low, high in pairwise(bounds)]


def moments(latency_ms: float, first_token_share: float, count: int) -> Iterator[float]:
    """When each of `count` pieces is due, in seconds from the request: the last one exactly at the latency."""
    latency = latency_ms / 1000
    first = latency if count == 1 else latency * first_token_share
    step = (latency - first) / max(1, count - 1)
    return (first + step * position for position in range(count))


def _reasoning(reply: Reply, piece: str) -> dict[str, Any]:
    if reply.reasoning_field != "parts":
        return {reply.reasoning_field: piece}
    return {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}


def _head(reply: Reply, kind: str) -> dict[str, Any]:
    identity = hashlib.sha256(reply.text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return {
        "id": f"chatcmpl-{identity}",
        "object": kind,
        "created": _CREATED,
        "model": reply.model,
        "system_fingerprint": FINGERPRINT,
    }


def _event(head: str, delta: dict[str, Any], finish_reason: str | None) -> bytes:
    choice = json.dumps({"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason})
    return f'data: {head}, "choices": [{choice}]}}\n\n'.encode()
