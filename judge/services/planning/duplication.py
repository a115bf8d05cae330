"""The configuration of a session, to plan another one with it."""

from django.utils.translation import gettext as _

from judge.models import JudgeSession
from judge.services.planning.configuration import MAX_NAME, SessionConfig


def config_of(session: JudgeSession) -> SessionConfig:
    """What the session was planned with, its seed included, under the name of a copy (two queries).

    The same pillars, threads and seed give the same plan; threads that a pillar got or lost since give another.
    """
    return SessionConfig(
        name=_copy_of(session.name),
        description=session.description,
        pillar_ids=tuple(session.pillars.order_by("number").values_list("number", flat=True)),
        judge_model_ids=tuple(session.session_judges.order_by("position").values_list("model", flat=True)),
        comparison_mode=session.comparison_mode,
        sampling_strategy=session.sampling_strategy,
        samples_per_pillar=session.samples_per_pillar,
        repetitions_per_pair=session.repetitions_per_pair,
        max_threads_per_pillar=session.max_threads_per_pillar,
        comparison_budget=session.comparison_budget,
        position_swap=session.position_swap,
        calculate_elo=session.calculate_elo,
        worker_count=session.worker_count,
        seed=session.seed,
        language=session.language,
        rubric_id=session.rubric_id,
    )


def _copy_of(name: str) -> str:
    full = _("%(name)s (copy)")
    room = MAX_NAME - len(full % {"name": ""})
    return full % {"name": name[:room]}
