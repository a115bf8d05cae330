"""Creating and deleting sessions. The whole plan is written with the session, from the seed, in one transaction."""

from itertools import islice
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils.translation import gettext_lazy as _

from judge.domain.planning import PlannedComparison, PlannedPair, plan_comparisons, plan_pairs
from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgePair, JudgeSession, SessionJudge
from judge.services.configuration import CheckedConfig, SessionConfig, check_config
from judge.services.errors import ActionRefused
from judge.services.transactions import in_transaction

BATCH = 1000
# From this size on a plan is worth telling the database's planner about at once.
LARGE_PLAN = 1000
DELETABLE = (SessionStatus.CREATED, SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.ABORTED)


def create_session(owner: User, config: SessionConfig) -> JudgeSession:
    """Check a configuration and write the session with its pairs and comparisons.

    Raises ConfigRefused with messages by field; nothing is written then.
    """
    checked = check_config(owner, config)
    # Not tried again: where the answer to the commit got lost, a second try would write a second session.
    with transaction.atomic():
        return _create(owner, checked)


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
        position_swap=config.position_swap,
        calculate_elo=config.calculate_elo,
        worker_count=config.worker_count,
        seed=checked.plan.seed,
        language=config.language,
        rubric=checked.rubric,
        prompt_version=checked.prompt_version,
    )
    session.pillars.set(checked.pillars)
    judges = [
        SessionJudge.objects.create(session=session, position=position, model=model, parameters=model.parameters)
        for position, model in enumerate(checked.models)
    ]
    _write_plan(session, judges, checked)
    return session


def _write_plan(session: JudgeSession, judges: list[SessionJudge], checked: CheckedConfig) -> None:
    """Write pairs, then comparisons, in batches, so that memory stays bounded by the pairs' ids."""
    pillar_ids = {pillar.number: pillar.pk for pillar in checked.pillars}
    planned_pairs = plan_pairs(checked.plan, checked.threads)
    pair_ids: list[int] = []
    while batch := list(islice(planned_pairs, BATCH)):
        rows = JudgePair.objects.bulk_create(_pair(session, planned, pillar_ids) for planned in batch)
        pair_ids += [row.pk for row in rows]
    planned_comparisons = plan_comparisons(checked.plan, len(pair_ids))
    while comparisons := list(islice(planned_comparisons, BATCH)):
        JudgeComparison.objects.bulk_create(_comparison(session, row, pair_ids, judges) for row in comparisons)
    session.total_comparisons = len(pair_ids) * checked.plan.comparisons_per_pair
    session.save(update_fields=["total_comparisons"])
    if session.total_comparisons >= LARGE_PLAN:
        _count_rows()


def _count_rows() -> None:
    """Renew PostgreSQL's statistics of the queue: until it does so itself, minutes later, it takes the table for tiny
    and reads all waiting comparisons for each claim."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"ANALYZE {JudgeComparison._meta.db_table}")


def _pair(session: JudgeSession, planned: PlannedPair, pillar_ids: dict[int, int]) -> JudgePair:
    return JudgePair(
        session=session,
        repetition=planned.repetition,
        queue_order=planned.queue_order,
        thread_a_id=planned.thread_a,
        thread_b_id=planned.thread_b,
        pillar_a_id=pillar_ids[planned.pillar_a],
        pillar_b_id=pillar_ids[planned.pillar_b],
    )


def _comparison(
    session: JudgeSession, planned: PlannedComparison, pair_ids: list[int], judges: list[SessionJudge]
) -> JudgeComparison:
    return JudgeComparison(
        session=session,
        pair_id=pair_ids[planned.pair_index],
        judge=judges[planned.judge_index],
        position_order=planned.position_order,
        queue_position=planned.queue_position,
    )


def delete_session(session_id: int) -> None:
    """Delete a session with everything that was judged in it. Raises ActionRefused while it may still be judging."""

    def work() -> None:
        session: Any = JudgeSession.objects.select_for_update().get(pk=session_id)
        if session.status not in DELETABLE:
            raise ActionRefused("still_active", _("Abort the session before you delete it."))
        session.delete()

    in_transaction(work)
