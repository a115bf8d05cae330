"""What the demo puts into the database: threads, two people, one session. Runs again without doing anything twice."""

from collections.abc import Callable

from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import transaction

from judge.domain.states import SessionStatus
from judge.models import JudgeSession
from judge.services import control
from judge.services.planning.configuration import SessionConfig
from judge.services.providers import simulated_model
from judge.services.sessions import create_session
from llars.embedded import secrets
from pillars.demo.library import demo_files
from pillars.models import EmailThread, Pillar
from pillars.services.imports import import_threads

ADMIN = "admin"
RESEARCHER = "researcher"
RESEARCHERS = "Researchers"
SOURCE = "Demo"
SESSION_NAME = "Demo: fünf Säulen"
SEED = 2026
SAMPLES = 8
WORKERS = 5


def prepare_database(say: Callable[[str], None]) -> None:
    """Migrate, collect the static files and, the first time, import the demo threads of all pillars or of none."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    if EmailThread.objects.filter(source=SOURCE).exists():
        say("Database: as it was left")
        return
    with transaction.atomic():
        for number, file in demo_files().items():
            import_threads(file.read_bytes(), file.name, Pillar.objects.get(number=number), source=SOURCE)
    say(f"Database: {EmailThread.objects.filter(source=SOURCE).count()} demo threads in {len(demo_files())} pillars")


@transaction.atomic
def ensure_people(first_password: str | None, say: Callable[[str], None]) -> None:
    """Create the administrator and a researcher if they are missing, and tell the passwords that were drawn for them.

    They are told before they are stored, since nobody can ever read them again: a run that is broken off here, or fails
    later on, leaves no account behind whose password nobody knows.
    """
    users = get_user_model().objects
    drawn: dict[str, str] = {}
    if not users.filter(username=ADMIN).exists():
        password = first_password or drawn.setdefault(ADMIN, secrets.password())
        users.create_superuser(username=ADMIN, email="", password=password)
    if not users.filter(username=RESEARCHER).exists():
        password = drawn.setdefault(RESEARCHER, secrets.password())
        researcher = users.create_user(username=RESEARCHER, password=password)
        researcher.groups.add(Group.objects.get(name=RESEARCHERS))
    for name, password in drawn.items():
        say(f"  Log in as {name} with the password {password}")
    if drawn:
        say("  Passwords are printed this once.")


def ensure_session(judge_url: str, is_needed: bool) -> JudgeSession | None:
    """Point the simulated judge to where it listens now, and return the demo session, started.

    It is created in a database without sessions, or when ``is_needed``; None if it was deleted since.
    """
    model = simulated_model(judge_url)
    session = JudgeSession.objects.filter(name=SESSION_NAME).order_by("pk").first()
    if session is None:
        if not is_needed and JudgeSession.objects.exists():
            return None
        config = SessionConfig(
            name=SESSION_NAME,
            pillar_ids=tuple(demo_files()),
            judge_model_ids=(model.pk,),
            samples_per_pillar=SAMPLES,
            worker_count=WORKERS,
            seed=SEED,
        )
        session = create_session(get_user_model().objects.get(username=RESEARCHER), config)
    return control.start(session.pk) if session.status == SessionStatus.CREATED else session
