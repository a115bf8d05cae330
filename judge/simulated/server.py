"""Runs the simulated judge: as a process of its own, or in a thread for tests and for one command's needs."""

import socket
import threading
import time
from types import TracebackType
from typing import Any, Final, Self

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from judge.simulated.app import SimulatedJudge
from judge.simulated.manners import Manners
from judge.simulated.quality import QualityIndex
from judge.simulated.sending import TRANSPORT_KEY
from judge.simulated.verdict import SimulatedSettings

_START_SECONDS: Final = 10.0


class _OpenProtocol(HttpToolsProtocol):
    """Gives the app its connection, so that it can break it off as a failing server would."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[TRANSPORT_KEY] = self.transport  # type: ignore[typeddict-unknown-key]


def run(host: str, port: int, judge: SimulatedJudge) -> None:
    """Serve until SIGINT or SIGTERM. Raises OSError when the port is taken."""
    with _listening(host, port) as listener:
        _server(judge).run(sockets=[listener])


class SimulatedServer:
    """The simulated judge in a thread of this process, on a free loopback port, recording what it receives."""

    def __init__(
        self,
        settings: SimulatedSettings | None = None,
        index: QualityIndex | None = None,
        script: Any = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.judge = SimulatedJudge(settings, index, script, record=True)
        self._address = (host, port)
        self._server = _server(self.judge)

    def __enter__(self) -> Self:
        self._listener = _listening(*self._address)
        self.host, self.port = self._listener.getsockname()[:2]
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="simulated-judge", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > deadline:
                raise RuntimeError("the simulated judge did not start")
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(_START_SECONDS)
        self._listener.close()

    @property
    def base_url(self) -> str:
        """What a provider's base URL would be."""
        return f"http://{self.host}:{self.port}/v1"

    @property
    def calls(self) -> int:
        """How many chat completions were asked for."""
        return self.judge.calls

    @property
    def listings(self) -> int:
        """How often the list of models was asked for."""
        return self.judge.listings

    @property
    def most_at_once(self) -> int:
        """The greatest number of chat completions that were being answered at the same moment."""
        return self.judge.most_at_once

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The last requests as received, with `_number`, `_at` (seconds) and `_headers` (names only)."""
        return list(self.judge.requests)

    def script(self, *steps: Any, rules: list[Any] | None = None) -> None:
        """Order faults: steps for the next calls, rules for those after. Raises FaultError."""
        self.judge.script.load({"steps": list(steps), "rules": rules or []})

    def play(self, **manners: Any) -> None:
        """Play another server until the next reset; the names are those of Manners."""
        self.judge.manners = Manners(**manners)

    def reset(self) -> None:
        """Forget the script, the manners and everything received."""
        self.judge.reset()


def _server(judge: SimulatedJudge) -> uvicorn.Server:
    config = uvicorn.Config(
        judge,
        http=_OpenProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        # Faults break responses off on purpose; uvicorn would report each as an error of the application.
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )
    return uvicorn.Server(config)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError:
        listener.close()
        raise
    listener.listen(1024)
    return listener
