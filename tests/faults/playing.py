"""Sessions under faults: lanes of several sessions at work, what beat does meanwhile, and what stands on record."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connections
from django.db.models import F
from django.db.models.functions import Now

from judge.models import JudgeAttempt, JudgeComparison, JudgeModel, JudgeSession, LLMProvider, ProviderState
from judge.models.session import LIVE_STATUSES
from judge.services import breaker, recovery
from judge.services.briefs import forget_briefs
from judge.services.foreground import judge_in_foreground
from judge.services.lanes import keep_lane_busy
from judge.services.wakeups import PROBE
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.factories import JudgeModelFactory, LLMProviderFactory

Wakeups = list[tuple[str, tuple[int, ...]]]
IDLE_SECONDS = 0.02


def one_comparison(make_session: MakeSession) -> JudgeSession:
    """A started session of a single comparison."""
    return make_session(threads=1, position_swap=False, worker_count=1)


def comparisons(make_session: MakeSession, count: int) -> JudgeSession:
    """A started session of so many comparisons, judged one after the other."""
    return make_session(threads=count, position_swap=False, worker_count=1)


def judge_all(session: JudgeSession) -> JudgeSession:
    """Run all lanes of a session until it is no longer live."""
    for _ in judge_in_foreground(session.pk, every_seconds=0.02):
        pass
    session.refresh_from_db()
    return session


def only_comparison(session: JudgeSession) -> JudgeComparison:
    """The comparison of a session that has one."""
    return JudgeComparison.objects.get(session=session)


def outcomes(session: JudgeSession) -> list[str]:
    """How the calls of a session ended, in their order."""
    attempts = JudgeAttempt.objects.filter(comparison__session=session).order_by("pk")
    return list(attempts.values_list("outcome", flat=True))


def reason(session: JudgeSession) -> tuple[str, str]:
    """A session's status and the reason of it."""
    session.refresh_from_db()
    return session.status, session.status_reason


def untouched(session: JudgeSession) -> bool:
    """Whether all comparisons of a session wait as if nobody had ever taken one."""
    rows = JudgeComparison.objects.filter(session=session)
    return not rows.exclude(status="pending", attempt_count=0, lost_leases=0, provider_slot=None).exists()


def beat(sent: Wakeups) -> None:
    """What beat and a worker do every ten seconds: recover, and run the probes that were asked for."""
    sent.clear()
    recovery.recover()
    for task, ids in list(sent):
        if task == PROBE:
            breaker.probe(*ids)


def state(provider_id: int) -> Any:
    """What is known about a provider, with the database's time as ``now``."""
    return ProviderState.objects.annotate(now=Now()).get(pk=provider_id)


def half_a_minute_later(provider_id: int) -> None:
    """Let the opening of a provider's breaker and its last probe lie long enough ago for the next probe."""
    passed = timedelta(seconds=settings.JUDGE_PROBE_SECONDS + 1)
    ProviderState.objects.filter(pk=provider_id).update(
        breaker_opened_at=F("breaker_opened_at") - passed, probed_at=F("probed_at") - passed
    )


def rest_is_over(provider_id: int) -> None:
    """Let the rest that a provider asked for lie in the past."""
    ProviderState.objects.filter(pk=provider_id).update(blocked_until=F("changed_at"))


def move(model: JudgeModel, base_url: str) -> None:
    """Let a judge's provider listen at another address, and let lanes know of it at once."""
    LLMProvider.objects.filter(pk=model.provider_id).update(base_url=base_url, may_receive_personal_data=True)
    forget_briefs()


def limit(model: JudgeModel, **limits: int | None) -> None:
    """Set limits of a judge's provider, and let lanes know of them at once."""
    LLMProvider.objects.filter(pk=model.provider_id).update(**limits)
    forget_briefs()


def judge_at(base_url: str, **provider: Any) -> JudgeModel:
    """A judge at a provider of its own."""
    there = LLMProviderFactory(base_url=base_url, api_key="", **provider)
    model: JudgeModel = JudgeModelFactory.create(provider=there, model_name="simulated-judge")
    return model


def moments(server: SimulatedServer) -> list[float]:
    """When the server's calls came in, in seconds, in order."""
    return sorted(request["_at"] for request in server.requests)


@contextmanager
def at_work(*sessions: JudgeSession) -> Iterator[None]:
    """All lanes of the sessions beside the block, each woken again and again, until its session is no longer live or
    the block ends. The first error of a lane is raised at the end."""
    stop = threading.Event()
    lanes = [(session.pk, worker_id) for session in sessions for worker_id in range(session.worker_count)]
    with ThreadPoolExecutor(len(lanes)) as pool:
        futures = [pool.submit(_lane, session_id, worker_id, stop) for session_id, worker_id in lanes]
        try:
            yield
        finally:
            stop.set()
    for future in futures:
        future.result()


def _lane(session_id: int, worker_id: int, stop: threading.Event) -> None:
    live = JudgeSession.objects.filter(pk=session_id, status__in=LIVE_STATUSES)
    try:
        while not stop.is_set() and live.exists():
            if not keep_lane_busy(session_id, worker_id, 0.2):
                stop.wait(IDLE_SECONDS)
    finally:
        connections.close_all()


class HangingUp:
    """A server that hangs up on everybody, and counts them."""

    def __init__(self) -> None:
        self.connections = 0

    def __enter__(self) -> "HangingUp":
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._run, name="hanging-up", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def base_url(self) -> str:
        """What a provider's base URL would be."""
        return f"http://127.0.0.1:{self.port}/v1"

    def close(self) -> None:
        """Stop listening; the port is free afterwards."""
        # Closing alone does not wake a thread that waits in accept().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.close()
