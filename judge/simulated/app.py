"""The simulated judge as a plain ASGI application."""

import json
import time
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from judge.simulated.faults import FaultError, Script, disturb
from judge.simulated.manners import Manners
from judge.simulated.quality import QualityIndex, demo_index
from judge.simulated.replies import answer_reply, error_body
from judge.simulated.sending import Scope, Send, send_body, send_reply
from judge.simulated.verdict import SimulatedSettings, decide

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_MAX_REQUEST_BYTES: Final = 16_000_000
_RECORDED: Final = 2_000


class SimulatedJudge:
    """An OpenAI-compatible server in one object: settings, script and, if it records, what it received.

    With `record` the endpoints under /_control are open and the last 2,000 requests kept; without, nothing is.
    """

    def __init__(
        self,
        settings: SimulatedSettings | None = None,
        index: QualityIndex | None = None,
        script: Any = None,
        record: bool = False,
    ) -> None:
        self.settings = settings or SimulatedSettings()
        self._index = index
        self.script = Script(script)
        self.record = record
        self.manners = Manners()
        self.calls = 0
        self.listings = 0
        self.at_once = self.most_at_once = 0
        self.requests: deque[dict[str, Any]] = deque(maxlen=_RECORDED)
        self._started = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            await self._answer(scope, receive, send)

    def reset(self) -> None:
        """Forget the script, the manners and everything received."""
        self.script.load(None)
        self.manners = Manners()
        self.requests.clear()
        self.calls = self.listings = self.most_at_once = 0

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = (scope["method"], scope["path"])
        if route == ("POST", "/v1/chat/completions"):
            await self._counted_chat(scope, receive, send)
        elif route == ("GET", "/v1/models"):
            await self._list_models(scope, send)
        elif route == ("GET", "/healthz"):
            await _send_json(send, {"status": "ok", "simulated": True})
        elif self.record and scope["path"].startswith("/_control/"):
            await self._control(route, receive, send)
        else:
            await send_body(send, 404, error_body("unknown path", "invalid_request_error"))

    async def _list_models(self, scope: Scope, send: Send) -> None:
        self.listings += 1
        status, body = self.manners.list_models(scope["headers"])
        await send_body(send, status, body)

    async def _counted_chat(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await self._chat(scope, receive, send)
        finally:
            self.at_once -= 1

    async def _chat(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = await _body(receive)
        request = _parsed(raw)
        if request is None:
            await send_body(send, 400, error_body("the body is no chat-completions request", "invalid_request_error"))
            return
        self.calls += 1
        if self.record:
            self._keep(request, scope)
        status, refusal = self.manners.refusal(request, scope["headers"])
        if refusal is not None:
            await send_body(send, status, refusal)
            return
        messages, model = request["messages"], str(request["model"])
        reply = answer_reply(self._text(request), model, len(raw), self.settings)
        reply.stream = bool(request.get("stream"))
        rule = self.script.take("\n".join(str(message.get("content")) for message in messages))
        if rule is not None:
            disturb(reply, rule)
        options = request.get("stream_options")
        await send_reply(reply, isinstance(options, dict) and bool(options.get("include_usage")), scope, send)

    def _text(self, request: dict[str, Any]) -> str:
        index = demo_index() if self._index is None else self._index
        model, shape = str(request["model"]), request.get("response_format")
        verdict = decide(self.settings, index, model, request["messages"], shape)
        if isinstance(verdict, str):
            return self.manners.answer(request, verdict)
        return json.dumps(verdict, ensure_ascii=False)

    def _keep(self, request: dict[str, Any], scope: Scope) -> None:
        headers = sorted(name.decode("latin-1") for name, _ in scope["headers"])
        at = round(time.monotonic() - self._started, 6)
        self.requests.append({**request, "_number": self.calls, "_at": at, "_headers": headers})

    async def _control(self, route: tuple[str, str], receive: Receive, send: Send) -> None:
        if route == ("GET", "/_control/calls"):
            await _send_json(send, {"calls": self.calls, "requests": list(self.requests)})
        elif route == ("POST", "/_control/reset"):
            self.reset()
            await _send_json(send, {"status": "ok"})
        elif route == ("POST", "/_control/script"):
            try:
                self.script.load(json.loads(await _body(receive)))
            except (FaultError, ValueError) as error:
                await send_body(send, 400, error_body(str(error), "invalid_request_error"))
                return
            await _send_json(send, {"status": "ok"})
        else:
            await send_body(send, 404, error_body("unknown path", "invalid_request_error"))


def _parsed(raw: bytes) -> dict[str, Any] | None:
    try:
        request = json.loads(raw)
    except ValueError:
        return None
    if not isinstance(request, dict) or not isinstance(request.get("model"), str):
        return None
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        return None
    return request


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > _MAX_REQUEST_BYTES:
            return b""
        if not message.get("more_body"):
            return b"".join(parts)


async def _send_json(send: Send, document: Any) -> None:
    await send_body(send, 200, json.dumps(document).encode())


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
