"""Faults to order: what a server can do wrong, and the script that says when it does."""

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from judge.simulated.replies import Reply, error_body

Effect = Callable[[Reply, Mapping[str, Any]], None]

_OPTIONS: Final = frozenset({"kind", "match", "times", "share"})
# These end the stream early, each in its own way; the sender plays them.
BREAKS: Final = frozenset(
    {
        "half_stream",
        "reset",
        "error_in_stream",
        "malformed_events",
        "silence",
        "keepalive_forever",
        "too_many_bytes",
        "endless_newlines",
    }
)
_ERROR_TYPES: Final = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}


class FaultError(ValueError):
    """A script that asks for something unknown."""


@dataclass
class Rule:
    """One ordered fault. `match`: only calls whose messages hold this; `times`: so often (None: always); `share`: only
    this share of calls, chosen by a hash of the messages."""

    kind: str
    options: dict[str, Any] = field(default_factory=dict)
    match: str | None = None
    times: int | None = None
    share: float = 1.0

    @classmethod
    def parse(cls, item: Any) -> "Rule":
        """From JSON: a kind, or an object {"kind": ..., ...options}. Raises FaultError."""
        fields = {"kind": item} if isinstance(item, str) else item
        if not isinstance(fields, dict) or fields.get("kind") not in KINDS:
            raise FaultError(f"a fault needs one of the kinds {', '.join(sorted(KINDS))}")
        options = {key: value for key, value in fields.items() if key not in _OPTIONS}
        return cls(fields["kind"], options, fields.get("match"), fields.get("times"), float(fields.get("share", 1.0)))

    def fits(self, text: str) -> bool:
        """Whether this rule wants a call with this text."""
        if self.times == 0 or (self.match is not None and self.match not in text):
            return False
        if self.share >= 1:
            return True
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8]) / 2**64 < self.share


class Script:
    """Steps, one consumed by each call as it comes, and rules that hold once the steps are used up.

    From JSON: {"steps": [...], "rules": [...]}, or a list of steps alone.
    """

    def __init__(self, data: Any = None) -> None:
        self._lock = threading.Lock()
        self.load(data)

    def load(self, data: Any) -> None:
        """Replace everything. Raises FaultError and then keeps the old script."""
        parts = {"steps": data} if isinstance(data, list) else data or {}
        if not isinstance(parts, dict) or not parts.keys() <= {"steps", "rules"}:
            raise FaultError("a script has steps and rules")
        steps = deque(Rule.parse(item) for item in parts.get("steps", ()))
        rules = [Rule.parse(item) for item in parts.get("rules", ())]
        with self._lock:
            self._steps, self._rules = steps, rules

    def take(self, text: str) -> Rule | None:
        """The fault for this call, if any; `text` is all messages' text."""
        with self._lock:
            if self._steps:
                return self._steps.popleft()
            for rule in self._rules:
                if rule.fits(text):
                    if rule.times is not None:
                        rule.times -= 1
                    return rule
        return None


def disturb(reply: Reply, rule: Rule) -> None:
    """Change a reply as the fault demands."""
    if rule.kind in BREAKS:
        reply.break_kind, reply.break_options = rule.kind, rule.options
        reply.break_share = float(rule.options.get("after", 0.5))
    else:
        _EFFECTS[rule.kind](reply, rule.options)


def _status(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.status = int(options.get("status", 500))
    kind = str(options.get("type", _ERROR_TYPES.get(reply.status, "server_error")))
    message = str(options.get("message", "simulated failure"))
    reply.body = error_body(message, kind, options.get("code"), options.get("param"))
    for name in ("retry-after", "retry-after-ms", "date", "location", "content-encoding"):
        if (value := options.get(name.replace("-", "_"))) is not None:
            reply.headers[name] = str(value)


def _html(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.body = b"<!DOCTYPE html><html><body><h1>Welcome to the proxy</h1></body></html>"
    reply.content_type = str(options.get("content_type", "text/html; charset=utf-8"))


def _field(name: str, default: Any) -> Effect:
    def effect(reply: Reply, options: Mapping[str, Any]) -> None:
        setattr(reply, name, options.get("value", default))

    return effect


def _text(change: Callable[[str], str]) -> Effect:
    def effect(reply: Reply, options: Mapping[str, Any]) -> None:
        reply.text = change(reply.text)
        reply.count_usage()

    return effect


def _document(change: Callable[[dict[str, Any]], None]) -> Effect:
    def effect(reply: Reply, options: Mapping[str, Any]) -> None:
        document = json.loads(reply.text)
        change(document)
        reply.text = json.dumps(document, ensure_ascii=False)
        reply.count_usage()

    return effect


def _first_score(value: float) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        next(iter(document["criteria_scores"].values()))["score_a"] = value

    return change


def _cut_off(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.text = reply.text[: len(reply.text) // 2]
    reply.finish_reason = "length"
    reply.count_usage()


def _refusal(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.text, reply.refusal = "", "I'm sorry, but I can't help with that."


def _no_finish_reason(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.finish_reason, reply.send_done = None, bool(options.get("done", False))


def _slow(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.latency_ms = float(options.get("latency_ms", 5_000))


def _absurd_usage(reply: Reply, options: Mapping[str, Any]) -> None:
    reply.usage = options.get("value", {"prompt_tokens": -5, "completion_tokens": 10**12, "total_tokens": "many"})


def _think_block(reply: Reply, options: Mapping[str, Any]) -> None:
    """Reasoning within the answer: between `opening` and `closing`, either of which may be left out ("")."""
    opening, closing = options.get("opening", "<think>"), options.get("closing", "</think>")
    thought = options.get("value", "First I compare {A} and {B}.")
    reply.text = f"{opening}{thought}{closing}\n{reply.text}"
    reply.count_usage()


def _reasoning_field(reply: Reply, options: Mapping[str, Any]) -> None:
    """Reasoning beside the answer: in `field`, taking `ms` milliseconds; `text` instead of the answer."""
    reply.reasoning = options.get("value", "First I compare A and B.")
    reply.reasoning_field = options.get("field", "reasoning_content")
    reply.reasoning_ms = float(options.get("ms", 0))
    reply.text = options.get("text", reply.text)
    reply.stream = options.get("streamed", reply.stream)


def _justified(reply: Reply, options: Mapping[str, Any]) -> None:
    """A verdict with these words as its reason."""
    reply.text = json.dumps({**json.loads(reply.text), "final_justification": options.get("value", "")})
    reply.count_usage()


_EFFECTS: Final[dict[str, Effect]] = {
    "ok": lambda reply, options: None,
    "status": _status,
    "html_200": _html,
    "no_finish_reason": _no_finish_reason,
    "length": _cut_off,
    "content_filter": _field("finish_reason", "content_filter"),
    "refusal": _refusal,
    "refusal_text": _text(lambda text: "I'm sorry, but I can't help with that."),
    "empty": _text(lambda text: ""),
    "empty_object": _text(lambda text: "{}"),
    "prose": _text(lambda text: f"Here is my verdict:\n{text}\nI hope this helps."),
    "prose_only": _text(lambda text: "Both threads have their strengths."),
    "fenced": _text(lambda text: f"```json\n{text}\n```"),
    "think_block": _think_block,
    "reasoning_field": _reasoning_field,
    "justified": _justified,
    "bom": _text(lambda text: "\ufeff" + text),
    "nul": _document(lambda document: document.update(final_justification="a\0b")),
    "lone_surrogate": _text(lambda text: text.replace('"final_justification": "', '"final_justification": "\ud83d')),
    "duplicate_keys": _text(lambda text: '{"winner": "A", ' + text[1:]),
    "nan": _document(lambda document: document.update(confidence=float("nan"))),
    "bad_score": _document(_first_score(9)),
    "bad_winner": _document(lambda document: document.update(winner="a")),
    "missing_criterion": _document(lambda document: document["criteria_scores"].popitem()),
    "split_utf8": _field("write_bytes", 7),
    "usage_absurd": _absurd_usage,
    "usage_missing": _field("usage", None),
    "other_model": _field("model", "another-model"),
    "not_streamed": _field("stream", False),
    "slow": _slow,
}

KINDS: Final = BREAKS | _EFFECTS.keys()
