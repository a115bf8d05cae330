"""The sessions that a chaos run judges: the demo threads, in both orders."""

from django.contrib.auth.models import User

from judge.models import JudgeModel, JudgeSession
from judge.services.planning.configuration import SessionConfig
from judge.services.sessions import create_session
from pillars.demo.library import demo_files
from pillars.models import Pillar
from pillars.services.imports import import_threads
from tests.chaos.options import Options

PILLARS = (1, 2, 3, 4, 5)


def import_demo_threads() -> User:
    """Fill the pillars; returns who will own the sessions."""
    for number, path in demo_files().items():
        import_threads(path.read_bytes(), path.name, Pillar.objects.get(number=number))
    return User.objects.create_superuser("chaos", password=None)


def plan_session(owner: User, model: JudgeModel, name: str, options: Options) -> JudgeSession:
    """Plan a session; two of the same seed have the same plan."""
    config = SessionConfig(
        name=name,
        pillar_ids=PILLARS,
        judge_model_ids=(model.pk,),
        samples_per_pillar=options.samples,
        repetitions_per_pair=options.repetitions,
        worker_count=options.lanes,
        seed=options.seed,
    )
    return create_session(owner, config)
