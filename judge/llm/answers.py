"""An answer as it grows: chat-completion events, or one whole completion, read without building objects for them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from judge.domain.errors import ErrorCode
from judge.llm.budget import CallBudget
from judge.llm.failures import CallFailed, failure_of_error_event
from judge.llm.sse import Event

_E = ErrorCode

_MAX_TOKENS: Final = 10_000_000
_REFUSING: Final = frozenset({"content_filter", "refusal", "safety", "SAFETY"})
# Types of content parts that hold reasoning; whatever text they carry is no answer.
_THINKING: Final = frozenset({"thinking", "reasoning", "redacted_thinking"})
_CUT_OFF: Final = frozenset({"length", "max_tokens", "MAX_TOKENS"})


@dataclass(frozen=True)
class Answer:
    """What a model answered, complete by its own word.

    `text` is exactly as received (it may hold NUL characters or lone surrogates, which no database stores);
    `reasoning_text` comes from a reasoning field of its own; token counts are None when missing or absurd.
    """

    text: str
    reasoning_text: str
    finish_reason: str | None
    model_returned: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_ms: int
    first_token_ms: int | None
    http_status: int


class AnswerCollector:
    """Collects one answer and tells `on_text` each piece of its text. Raises CallFailed for what is no answer."""

    def __init__(self, budget: CallBudget, on_text: Callable[[str], None], api_key: str, last_words: str = "") -> None:
        self._budget = budget
        self._last_words = last_words
        self._tail = ""
        self._on_text = on_text
        self._api_key = api_key
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._bytes_left = budget.limits.max_bytes
        self._high_surrogate = ""
        self._usage: Any = None
        self.http_status = 0
        self.refused = False
        self.done = False
        self.events = 0
        self.finish_reason: str | None = None
        self.model_returned: str | None = None
        self.first_token_ms: int | None = None

    @property
    def text(self) -> str:
        """All text so far, exactly."""
        return "".join(self._text) + self._high_surrogate

    @property
    def reasoning_text(self) -> str:
        """All text of the separate reasoning field so far."""
        return "".join(self._reasoning)

    @property
    def is_complete(self) -> bool:
        """Whether the model has said that it is finished."""
        return self.finish_reason is not None

    @property
    def prompt_tokens(self) -> int | None:
        """Tokens of the prompt as the server counted, None if it did not or cannot have."""
        return self._tokens("prompt_tokens")

    @property
    def completion_tokens(self) -> int | None:
        """Tokens of the answer as the server counted, None if it did not or cannot have."""
        return self._tokens("completion_tokens")

    def take_event(self, event: Event) -> None:
        """Read one event of the stream."""
        name, data = event
        if self.done:
            return
        if data.strip() == b"[DONE]":
            self.done = True
            self._budget.done()
            return
        self.events += 1
        try:
            chunk = json.loads(data.decode("utf-8"))
        except (ValueError, RecursionError):
            raise CallFailed(_E.PROTOCOL_ERROR, "malformed event") from None
        if not isinstance(chunk, dict):
            raise CallFailed(_E.PROTOCOL_ERROR, "event is not an object")
        if name == "error" or chunk.get("error"):
            raise failure_of_error_event(chunk, self._api_key)
        self._take_chunk(chunk, "delta")

    def take_completion(self, body: bytes) -> None:
        """Read a whole completion, from a server that does not stream."""
        try:
            completion = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError):
            raise CallFailed(_E.PROTOCOL_ERROR, "malformed completion") from None
        if not isinstance(completion, dict):
            raise CallFailed(_E.PROTOCOL_ERROR, "completion is not an object")
        if completion.get("error"):
            raise failure_of_error_event(completion, self._api_key)
        self.events += 1
        self._take_chunk(completion, "message")

    def raise_unless_usable(self, done_is_enough: bool) -> None:
        """Raise CallFailed for an answer that is cut off, refused or empty, by what the server says of it."""
        reason = self.finish_reason
        if self.events == 0 and not self.done:
            raise CallFailed(_E.PROTOCOL_ERROR, "no events in the answer")
        if reason is None and not (done_is_enough and self.done):
            raise CallFailed(_E.TRUNCATED, "the stream ended without a finish reason")
        if reason == "error":
            raise CallFailed(_E.PROTOCOL_ERROR, "finish reason error")
        if self.refused or reason in _REFUSING:
            raise CallFailed(_E.REFUSED, "the model or a content filter refused")
        if reason in _CUT_OFF:
            raise CallFailed(_E.LENGTH, "the output limit was reached")
        if not self.text.strip("\ufeff \t\r\n"):
            raise CallFailed(_E.EMPTY, "no text in the answer")

    def _take_chunk(self, chunk: dict[str, Any], holder: str) -> None:
        if self.model_returned is None and isinstance(model := chunk.get("model"), str) and model:
            self.model_returned = model[:200]
        if (usage := chunk.get("usage")) is not None:
            self._usage = usage
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            if usage is None:
                raise CallFailed(_E.PROTOCOL_ERROR, "event without choices")
            return
        for choice in choices:
            if not isinstance(choice, dict):
                raise CallFailed(_E.PROTOCOL_ERROR, "choice is not an object")
            if choice.get("index", 0) == 0:
                self._take_choice(choice, holder)

    def _take_choice(self, choice: dict[str, Any], holder: str) -> None:
        delta = choice.get(holder)
        if isinstance(delta, dict):
            self._take_delta(delta)
        elif delta is not None:
            raise CallFailed(_E.PROTOCOL_ERROR, f"{holder} is not an object")
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self.finish_reason = reason[:50]
            self._budget.finished()

    def _take_delta(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(content, list):
            content, reasoning = _parts(content)
        if delta.get("refusal"):
            self.refused = True
            if isinstance(delta["refusal"], str):
                self._count(delta["refusal"])
                self._text.append(delta["refusal"])
        if isinstance(reasoning, str) and reasoning:
            self._count(reasoning)
            self._reasoning.append(reasoning)
        if content is None or content == "":
            return
        if not isinstance(content, str):
            raise CallFailed(_E.PROTOCOL_ERROR, "content is not text")
        self._count(content)
        if piece := self._joined(content):
            self._text.append(piece)
            self._on_text(piece)
            if self._last_words:
                self._watch_for_end(piece)

    def _watch_for_end(self, piece: str) -> None:
        """Before the last words text may gather; after them each piece may be the last, and a verdict must not wait."""
        self._tail += piece
        is_near = self._last_words in self._tail
        self._budget.gather(not is_near)
        self._tail = self._tail[1 - len(self._last_words) :]
        if is_near:
            self._last_words = ""

    def _count(self, text: str) -> None:
        self._bytes_left -= len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if self._bytes_left < 0:
            raise CallFailed(_E.TOO_LARGE, "the answer is larger than the limit")
        if self.first_token_ms is None:
            self.first_token_ms = self._budget.elapsed_ms()
        self._budget.token()

    def _joined(self, piece: str) -> str:
        """A character outside the basic plane may be escaped as two surrogates that arrive in two pieces."""
        if self._high_surrogate:
            piece, self._high_surrogate = self._high_surrogate + piece, ""
            if "\udc00" <= piece[1] <= "\udfff":
                piece = piece[:2].encode("utf-16", "surrogatepass").decode("utf-16") + piece[2:]
        if "\ud800" <= piece[-1] <= "\udbff":
            self._high_surrogate = piece[-1]
            return piece[:-1]
        return piece

    def _tokens(self, key: str) -> int | None:
        value = self._usage.get(key) if isinstance(self._usage, dict) else None
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_TOKENS:
            return None
        return value


def _parts(parts: list[Any]) -> tuple[str, str]:
    """Text and reasoning of a content that comes as a list of typed parts."""
    text: list[str] = []
    reasoning: list[str] = []
    for part in parts:
        if not isinstance(part, dict):
            raise CallFailed(_E.PROTOCOL_ERROR, "content is not text")
        kind = str(part.get("type"))
        if kind in _THINKING:
            reasoning.append(_thought(part.get(kind) or part.get("text")))
        elif isinstance(part.get("text"), str):
            text.append(part["text"])
    return "".join(text), "".join(reasoning)


def _thought(held: Any) -> str:
    """The text of a reasoning part, which holds it itself or in parts of its own."""
    if isinstance(held, list):
        texts = (part.get("text") for part in held if isinstance(part, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return held if isinstance(held, str) else ""
