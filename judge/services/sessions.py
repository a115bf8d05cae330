"""Creating sessions. A session is written whole with the start of its plan, in one transaction."""

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from judge.domain.states import ComparisonMode
from judge.models import JudgeSession, SessionJudge, SessionThread
from judge.services.errors import ConfigRefused
from judge.services.planning.configuration import CheckedConfig, SessionConfig, check_config, grouped
from judge.services.planning.growth import write_first_batch
from judge.services.planning.rows import PlanFrame
from judge.services.planning.writing import LARGE_PLAN, count_rows, write_small_or_ask

BATCH = 5000
# A plan whose seed is drawn when it is created may be a little larger than it was when it was confirmed.
CONFIRMED_SLACK = 1.1


def create_session(owner: User, config: SessionConfig) -> JudgeSession:
    """Check a configuration and write the session with its threads, and its plan if that is small.

    A large plan is written by a worker afterwards; its size is known at once, and the session may be started at once.
    Raises ConfigRefused with messages by field, also for a large plan that was not confirmed; nothing is written then.
    """
    checked = check_config(owner, config)
    _check_confirmed(checked)
    # Not tried again: where the answer to the commit got lost, a second try would write a second session.
    with transaction.atomic():
        session = _create(owner, checked)
        frame = _freeze(session, checked)
        if session.comparison_mode == ComparisonMode.ADAPTIVE:
            write_first_batch(frame)
        else:
            write_small_or_ask(session, frame)
        session.refresh_from_db()
        if session.planned_comparisons >= LARGE_PLAN:
            count_rows()
    return session


def _check_confirmed(checked: CheckedConfig) -> None:
    count = checked.outline.comparisons
    confirmed = checked.config.confirmed_comparisons
    is_confirmed = checked.config.confirm_large_plan and (confirmed is None or count <= CONFIRMED_SLACK * confirmed)
    if count > settings.JUDGE_CONFIRM_ABOVE and not is_confirmed:
        message = _("This plan has %(count)s comparisons. Confirm that you want it that large.")
        raise ConfigRefused({"confirm_large_plan": [message % {"count": grouped(count)}]})


def _create(owner: User, checked: CheckedConfig) -> JudgeSession:
    config = checked.config
    session = JudgeSession.objects.create(
        owner=owner,
        name=config.name.strip(),
        description=config.description,
        comparison_mode=config.comparison_mode,
        sampling_strategy=config.sampling_strategy,
        samples_per_pillar=config.samples_per_pillar,
        repetitions_per_pair=config.repetitions_per_pair,
        max_threads_per_pillar=config.max_threads_per_pillar,
        comparison_budget=checked.plan.comparison_budget,
        position_swap=config.position_swap,
        calculate_elo=config.calculate_elo,
        worker_count=config.worker_count,
        seed=checked.plan.seed,
        language=config.language,
        rubric=checked.rubric,
        prompt_version=checked.prompt_version,
        total_comparisons=checked.outline.comparisons,
        plan_written_at=Now(),
    )
    session.pillars.set(checked.pillars)
    return session


def _freeze(session: JudgeSession, checked: CheckedConfig) -> PlanFrame:
    """Write what later changes of models and pillars must not touch: the judges' parameters, and who takes part."""
    judges = [
        SessionJudge.objects.create(session=session, position=position, model=model, parameters=model.parameters)
        for position, model in enumerate(checked.models)
    ]
    pillar_ids = {pillar.number: pillar.pk for pillar in checked.pillars}
    rows = (
        SessionThread(session=session, pillar_id=pillar_ids[number], thread_id=thread)
        for number, threads in checked.threads.items()
        for thread in threads
    )
    SessionThread.objects.bulk_create(rows, batch_size=BATCH)
    return PlanFrame(session.pk, checked.plan, checked.threads, [judge.pk for judge in judges], pillar_ids)
