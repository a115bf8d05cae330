"""A whole session, failures included, with every process at DEBUG: no log and no metric holds a text or a key."""

import json
import re
import signal
import urllib.request
from pathlib import Path

import pytest
from django.test import Client

from judge.domain.states import SessionStatus
from judge.models import JudgeEvaluation, JudgeModel, JudgeSession
from judge.services import control
from judge.simulated.server import SimulatedServer
from llars.embedded.ports import any_free
from llars.quickstart import programs
from pillars.models import EmailThread, Message
from tests.conftest import MakeSession
from tests.factories import KEY, StaffFactory
from tests.processes.conftest import wait_for
from tests.processes.started import StartProgram, start_program

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

__all__ = ["start_program"]

FAULTS = ("prose_only", "bad_score", "malformed_events", "reset", "no_finish_reason", "refusal", "ok", "html_200")


@pytest.fixture
def metrics_port(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the processes that are started afterwards say all they can, as JSON, and serve what they count."""
    port = any_free()
    for name, value in {"LOG_LEVEL": "DEBUG", "LOG_FORMAT": "json", "METRICS_PORT": str(port)}.items():
        monkeypatch.setenv(f"LLARS_{name}", value)
    return port


def read(address: str, cookie: str = "") -> str:
    request = urllib.request.Request(address, headers={"Cookie": cookie})
    with programs.NO_PROXY.open(request, timeout=20) as answer:
        return str(answer.read().decode())


def secrets() -> set[str]:
    """Everything that must stand in no log: letters, subjects, reasonings, raw answers, the key."""
    texts = {KEY, *EmailThread.objects.values_list("subject", flat=True)}
    texts.update(Message.objects.values_list("content", flat=True))
    for evaluation in JudgeEvaluation.objects.all():
        texts.update((evaluation.reasoning, evaluation.raw_response[:200], *evaluation.chain_of_thought.values()))
    return {text for text in texts if text}


def test_no_log_and_no_metric_holds_a_text_or_a_key(
    metrics_port: int,
    make_session: MakeSession,
    model: JudgeModel,
    server: SimulatedServer,
    start_program: StartProgram,
    client: Client,
    tmp_path: Path,
) -> None:
    model.provider.api_key = KEY
    model.provider.save()
    session = make_session(threads=4, worker_count=3, is_started=False)
    server.script(*FAULTS)
    web = programs.web("127.0.0.1", any_free())
    worker = start_program("worker", *programs.worker().command)
    start_program("beat", *programs.beat(tmp_path).command)
    start_program("web", *web.command, DJANGO_SETTINGS_MODULE="tests.settings")  # static files as they lie there
    control.start(session.pk)
    ended = (SessionStatus.COMPLETED, SessionStatus.PAUSED)
    wait_for(lambda: JudgeSession.objects.get(pk=session.pk).status in ended, 90, "the session to end")
    wait_for(web.ready, 60, "the web server")
    client.force_login(StaffFactory())
    cookie = f"sessionid={client.cookies['sessionid'].value}"
    comparison = session.comparisons.filter(status="completed").first()
    assert comparison is not None
    address = f"http://127.0.0.1:{web.command[web.command.index('--port') + 1]}"
    pages = (
        f"/judge/session/{session.pk}/",
        f"/judge/session/{session.pk}/comparisons/{comparison.pk}/",
        "/admin/judge/judgesession/running/",
        f"/api/judge/sessions/{session.pk}/comparisons/{comparison.pk}/",
    )
    shown = "".join(read(address + page, cookie) for page in pages)
    hidden = secrets()
    assert any(text in shown for text in hidden)  # they are what the pages show
    counts = read(f"http://127.0.0.1:{metrics_port}/metrics")
    assert re.search(r"^llars_claims_total\{.*\} [1-9]", counts, re.MULTILINE)
    assert re.search(r'^llars_call_failures_total\{code="protocol_error",.*\} [1-9]', counts, re.MULTILINE)
    worker.send_signal(signal.SIGTERM)
    worker.wait(30)
    logs = {path.name: path.read_text() for path in tmp_path.glob("*.log")}
    assert set(logs) == {"beat.log", "worker.log", "web.log"}
    for name, text in [*logs.items(), ("metrics", counts)]:
        assert [secret for secret in hidden if secret in text or json.dumps(secret)[1:-1] in text] == [], name
    events = [json.loads(line) for line in logs["worker.log"].splitlines() if line.startswith("{")]
    assert {"worker"} == {event["process"] for event in events}
