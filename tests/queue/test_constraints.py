"""The database refuses what must not be, whoever writes."""

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from judge.models import CriterionScore, JudgeComparison, JudgeEvaluation, JudgePair, JudgeSession
from judge.services.lanes import run_lane
from tests.conftest import MakeSession

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]


def refused(queryset: Any, **values: Any) -> bool:
    try:
        with transaction.atomic():
            queryset.update(**values)
    except IntegrityError:
        return True
    return False


def test_a_comparison_runs_if_and_only_if_it_is_leased(make_session: MakeSession) -> None:
    row = JudgeComparison.objects.filter(session=make_session(), queue_position=0)
    token = {"claim_token": uuid.uuid4(), "lease_expires_at": Now()}
    assert refused(row, status="running")
    assert refused(row, **token)
    place = {"provider": row.get().judge.model.provider, "provider_slot": 0}
    assert refused(row, status="running", **token, **place)  # without a lane
    assert refused(row, status="running", worker_id=0, **token)  # without a place at the provider
    assert refused(row, **place)
    assert refused(row, status="completed", **token, **place)
    assert not refused(row, status="running", worker_id=0, **token, **place)


def test_a_failed_comparison_has_a_code_and_only_a_failed_one(make_session: MakeSession) -> None:
    row = JudgeComparison.objects.filter(session=make_session(), queue_position=0)
    assert refused(row, status="failed")
    assert refused(row, error_code="empty")
    assert not refused(row, status="failed", error_code="empty")


def test_two_threads_meet_once_in_a_repetition_whichever_comes_first(make_session: MakeSession) -> None:
    session = make_session()
    pair = JudgePair.objects.filter(session=session).first()
    assert pair is not None
    mirrored = JudgePair(
        session=session,
        repetition=1,
        queue_order=999,
        thread_a=pair.thread_b,
        thread_b=pair.thread_a,
        pillar_a=pair.pillar_b,
        pillar_b=pair.pillar_a,
    )
    with pytest.raises(IntegrityError), transaction.atomic():
        mirrored.save()
    assert refused(JudgePair.objects.filter(pk=pair.pk), thread_b=pair.thread_a)
    mirrored.repetition = 2
    mirrored.save()


def test_scores_confidence_and_winner_stay_in_their_range(make_session: MakeSession) -> None:
    session = make_session()
    run_lane(session.pk, 0)
    assert refused(CriterionScore.objects.all(), score_a=5.1)
    assert refused(CriterionScore.objects.all(), score_b=0)
    assert refused(JudgeEvaluation.objects.all(), confidence=1.01)
    assert refused(JudgeEvaluation.objects.all(), winner="C")


def test_counters_never_exceed_the_plan(make_session: MakeSession) -> None:
    session = make_session()
    row = JudgeSession.objects.filter(pk=session.pk)
    assert refused(row, completed_comparisons=session.total_comparisons, failed_comparisons=1)
    assert refused(row, worker_count=6)
    assert refused(row, status="finished")
    assert refused(row, seed=-1)


def test_a_comparison_has_one_verdict(make_session: MakeSession) -> None:
    session = make_session()
    run_lane(session.pk, 0)
    evaluation = JudgeEvaluation.objects.get()
    evaluation.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        evaluation.save(force_insert=True)
