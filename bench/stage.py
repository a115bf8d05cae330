"""Our side of the benchmarks: threads, providers, sessions, and the processes that run in production."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ.setdefault("LLARS_LOG_LEVEL", "ERROR")
django.setup()

import httpx2  # noqa: E402
from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402

from bench.processes import Child, process, wait_until  # noqa: E402
from judge.domain.prompt import render_prompt  # noqa: E402
from judge.domain.states import SessionStatus  # noqa: E402
from judge.models import JudgeModel, JudgeSession  # noqa: E402
from judge.services import control  # noqa: E402
from judge.services.briefs import brief_for  # noqa: E402
from judge.services.planning.configuration import SessionConfig  # noqa: E402
from judge.services.providers import simulated_model  # noqa: E402
from judge.services.sessions import create_session  # noqa: E402
from judge.services.texts import rendered_threads  # noqa: E402
from llars.embedded.ports import any_free  # noqa: E402
from pillars.demo.library import demo_files  # noqa: E402
from pillars.models import Pillar  # noqa: E402
from pillars.services.imports import import_threads  # noqa: E402

LANES = 5
PER_REPETITION = 80
_CELERY = ("-m", "celery", "-A", "llars")
_QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "ERROR")

Body = dict[str, Any]


def prepare() -> None:
    """Tables, a user and the demo threads."""
    call_command("migrate", verbosity=0)
    User.objects.create_superuser("bench", password=None)
    for number, path in demo_files().items():
        import_threads(path.read_bytes(), path.name, Pillar.objects.get(number=number))


@contextmanager
def simulated_server(latency_ms: int, chunks: int = 1, is_streamed: bool = True) -> Iterator[JudgeModel]:
    """The simulated judge in a process of its own, as the model of a provider. Unstreamed it answers with one whole
    completion, whatever it is asked for."""
    port = any_free()
    base_url = f"http://127.0.0.1:{port}/v1"
    command = ["manage.py", "simulated_judge", "--port", str(port), "--latency-ms", str(latency_ms)]
    command += ["--chunks", str(chunks)]
    if not is_streamed:
        rules = Path(settings.ENV.data_dir) / "not-streamed.json"
        rules.write_text(json.dumps({"rules": ["not_streamed"]}))
        command += ["--faults", str(rules)]
    with process(*command):
        wait_until(lambda: _answers(base_url))
        yield simulated_model(base_url, name=f"Simulated judge at {port} (no LLM)")


@contextmanager
def workers(count: int) -> Iterator[list[Child]]:
    """``count`` Celery worker processes as the settings have them, beside the clock that wakes idle lanes."""
    schedule = str(Path(settings.ENV.data_dir) / "beat")
    with ExitStack() as stack:
        stack.enter_context(process(*_CELERY, "beat", "--schedule", schedule, "--pidfile=", "-l", "ERROR"))
        names = [f"bench{number}@%h" for number in range(count)]
        yield [stack.enter_context(process(*_CELERY, "worker", "-n", name, *_QUIET)) for name in names]


def plan(model: JudgeModel, repetitions: int) -> JudgeSession:
    """A session of PER_REPETITION comparisons per repetition: ten pillar pairs, four samples, both orders."""
    config = SessionConfig(
        name="Benchmark",
        pillar_ids=(1, 2, 3, 4, 5),
        judge_model_ids=(model.pk,),
        samples_per_pillar=4,
        repetitions_per_pair=repetitions,
        worker_count=LANES,
        seed=1,
    )
    return create_session(User.objects.get(username="bench"), config)


def judge(session: JudgeSession) -> float:
    """Seconds from the start of a session to its last verdict, by the database's clock."""
    control.start(session.pk)
    wait_until(lambda: JudgeSession.objects.get(pk=session.pk).status == SessionStatus.COMPLETED, 300)
    session.refresh_from_db()
    if session.completed_at is None or session.started_at is None or session.failed_comparisons:
        raise RuntimeError("the session did not complete as it should")
    return (session.completed_at - session.started_at).total_seconds()


def requests_of(session: JudgeSession) -> list[Body]:
    """The bodies that judging the session sends."""
    brief = brief_for(session.session_judges.get().pk)
    bodies: list[Body] = []
    for comparison in session.comparisons.select_related("pair").order_by("queue_position"):
        first, second = rendered_threads(comparison.thread_ids, brief.language)
        prompt = render_prompt(brief.template, brief.rubric, first.text, second.text, brief.language, "benchmark-nonce")
        bodies.append(
            {
                "model": brief.endpoint.model_name,
                "messages": prompt.messages(),
                "stream": True,
                "stream_options": {"include_usage": True},
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "strict": True, "schema": brief.schema},
                },
            }
        )
    return bodies


def _answers(base_url: str) -> bool:
    try:
        return httpx2.get(f"{base_url}/models", trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False
