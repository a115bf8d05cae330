"""What the demo with a real model puts into its database: six short threads, one judge, one session."""

import json
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import make_password
from django.core.management import call_command

from judge.models import JudgeModel, JudgeSession
from judge.models.provider import StructuredOutput
from judge.models.session import LIVE_STATUSES
from judge.services import control
from judge.services.planning.configuration import SessionConfig
from judge.services.providers import environment_model
from judge.services.sessions import create_session
from llars.env import environment
from llars.localllm.programs import CONTEXT_TOKENS
from llars.quickstart.demo import SOURCE
from pillars.demo.library import demo_threads
from pillars.models import EmailThread, Pillar
from pillars.services.imports import import_threads

OWNER = "demo-llm"
NAME = "A real model on this machine"
# The best and the worst pillar of the demo.
PILLARS = (3, 4)
THREADS = 3
ORDERS = 2
COMPARISONS = THREADS * ORDERS
SEED = 2026

# A model of this size copies the "<Text>" of the answer format, and does not end a text once it has begun one. The
# placeholders' brackets are forbidden and the end of a text is made likely; what it then says is its own. No seed: a
# repeated call must be able to go another way.
OPENS_A_PLACEHOLDER = ("<", " <", '"<', ' "<')
ENDS_A_TEXT = ('"', '",', '."', '.",')
PARAMETERS: dict[str, Any] = {
    "max_tokens": 1200,
    "temperature": 0.6,
    "repeat_penalty": 1.05,
    "logit_bias": [*([text, False] for text in OPENS_A_PLACEHOLDER), *([text, 2] for text in ENDS_A_TEXT)],
}


def plan(say: Callable[[str], None]) -> JudgeSession:
    """Migrate, import the threads the first time, and return a new session, started. Older ones stay to be read."""
    call_command("migrate", interactive=False, verbosity=0)
    for number in PILLARS:
        _import(number)
    owner, _ = get_user_model().objects.get_or_create(username=OWNER, defaults={"password": make_password(None)})
    for left in JudgeSession.objects.filter(owner=owner, status__in=LIVE_STATUSES):
        control.abort(left.pk)
    config = SessionConfig(
        name=NAME,
        pillar_ids=PILLARS,
        judge_model_ids=(_model().pk,),
        samples_per_pillar=THREADS,
        position_swap=True,
        worker_count=1,
        seed=SEED,
    )
    session = create_session(owner, config)
    database = settings.DATABASES["default"]["NAME"]
    say(f"Session {session.pk}: {session.total_comparisons} comparisons, kept in {database}")
    return control.start(session.pk)


def short_threads(number: int) -> list[dict[str, Any]]:
    """The three shortest demo threads of a pillar, so that two of them, the instructions and a verdict fit together."""

    def words(thread: dict[str, Any]) -> int:
        return sum(len(message["content"].split()) for message in thread["messages"])

    return sorted(demo_threads()[number], key=words)[:THREADS]


def _import(number: int) -> None:
    threads = short_threads(number)
    pillar = Pillar.objects.get(number=number)
    if EmailThread.objects.filter(source=SOURCE, pillars=pillar).count() < THREADS:
        import_threads(json.dumps(threads).encode(), "short-threads.json", pillar, source=SOURCE)


def _model() -> JudgeModel:
    """The model of the environment, bound to a JSON schema; one call at a time, since it has one slot."""
    env = environment()
    model = environment_model(env.llm_base_url, env.llm_api_key.get_secret_value(), env.llm_model)
    model.provider.max_concurrency = 1
    model.provider.save(update_fields=["max_concurrency"])
    model.structured_output = StructuredOutput.JSON_SCHEMA
    model.context_window = CONTEXT_TOKENS
    model.parameters = PARAMETERS
    model.save()
    return model
