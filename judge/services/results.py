"""Derived tables: computed from the evaluations alone, always to the same numbers, and stored for the readers."""

from collections import defaultdict
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Avg, Count

from judge import events
from judge.models import (
    CriterionScore,
    JudgeSession,
    PillarStatistics,
    ResultSnapshot,
    ThreadEloScore,
)
from judge.selectors.results import OVERVIEW
from judge.services.material import Material, read_material
from judge.services.overview import overview_payload
from judge.services.transactions import in_transaction
from judge.statistics import bradley_terry, elo
from judge.statistics.matches import item_key


def refresh_results(session_id: int) -> bool:
    """Compute and store the results of a session; returns False when the session is gone.

    Computing happens outside the transaction. Of two refreshes at once the one that saw more evaluations stays.
    """
    session = JudgeSession.objects.kept().filter(pk=session_id).first()
    if session is None:
        return False
    material = read_material(session)
    scores = _elo_rows(material) if session.calculate_elo else []
    statistics = _pillar_rows(material)
    likert = _likert_means(session)
    payload = overview_payload(material, scores, likert)

    def store() -> None:
        if not _claim_snapshot(session, len(material.presentations), payload):
            return
        ThreadEloScore.objects.filter(session=session).delete()
        ThreadEloScore.objects.bulk_create(scores, batch_size=1000)
        PillarStatistics.objects.filter(session=session).delete()
        PillarStatistics.objects.bulk_create(statistics)
        event = events.ResultsUpdated(session_id=session.pk, evaluations_seen=len(material.presentations))
        transaction.on_commit(partial(events.publish, event))

    try:
        in_transaction(store)
    except IntegrityError:
        if JudgeSession.objects.filter(pk=session_id).exists():
            raise
        return False  # deleted meanwhile
    return True


def rebuild_results(session_id: int) -> bool:
    """Drop everything derived of a session and compute it again from the evaluations."""

    def drop() -> None:
        ThreadEloScore.objects.filter(session=session_id).delete()
        PillarStatistics.objects.filter(session=session_id).delete()
        ResultSnapshot.objects.filter(session=session_id).delete()

    in_transaction(drop)
    return refresh_results(session_id)


def _claim_snapshot(session: JudgeSession, seen: int, payload: dict[str, Any]) -> bool:
    """Store the snapshot unless a newer one is there; the row is the lock of all derived tables of the session."""
    snapshot, is_new = ResultSnapshot.objects.select_for_update().get_or_create(
        session=session, kind=OVERVIEW, defaults={"evaluations_seen": seen, "payload": payload}
    )
    if is_new:
        return True
    if snapshot.evaluations_seen > seen:
        return False
    snapshot.evaluations_seen, snapshot.payload = seen, payload
    snapshot.save()
    return True


def _elo_rows(material: Material) -> list[ThreadEloScore]:
    ratings = elo.replay(material.matches)
    spread = elo.order_spread(material.matches, seed=material.session.seed) if material.matches else {}
    strengths = bradley_terry.fit(bradley_terry.aggregate(material.matches)) if material.matches else {}
    pillar_ids = dict(material.session.pillars.values_list("number", "pk"))
    pillar_of: dict[Any, Any] = {}
    confidences: defaultdict[Any, list[float]] = defaultdict(list)
    for outcome, match in zip(material.outcomes, material.matches, strict=True):
        for thread, pillar in ((match.thread_a, match.pillar_a), (match.thread_b, match.pillar_b)):
            pillar_of.setdefault(thread, pillar)
            confidences[thread].append(material.confidence_of_pair[outcome.pair])
    return [
        ThreadEloScore(
            session=material.session,
            thread_id=thread,
            pillar_id=pillar_ids[pillar_of[thread]],
            elo_score=rating.rating,
            elo_low=spread[thread].low,
            elo_high=spread[thread].high,
            matches_played=rating.matches,
            wins=rating.wins,
            losses=rating.losses,
            ties=rating.ties,
            avg_confidence=sum(confidences[thread]) / len(confidences[thread]),
            bt_score=strengths[thread].rating,
            bt_low=strengths[thread].low,
            bt_high=strengths[thread].high,
            bt_flag=strengths[thread].flag or "",
        )
        for thread, rating in ratings.items()
    ]


def _pillar_rows(material: Material) -> list[PillarStatistics]:
    pillar_ids = dict(material.session.pillars.values_list("number", "pk"))
    counts: defaultdict[tuple[Any, Any], dict[str, int]] = defaultdict(
        lambda: {"wins_a": 0, "wins_b": 0, "ties": 0, "conflicts": 0}
    )
    confidences: defaultdict[tuple[Any, Any], list[float]] = defaultdict(list)
    for outcome, match in zip(material.outcomes, material.matches, strict=True):
        forward = item_key(match.pillar_a) <= item_key(match.pillar_b)
        key = (match.pillar_a, match.pillar_b) if forward else (match.pillar_b, match.pillar_a)
        row = counts[key]
        row["ties" if match.result == "tie" else "wins_a" if (match.result == "a") == forward else "wins_b"] += 1
        row["conflicts"] += match.conflict is not None
        confidences[key].append(material.confidence_of_pair[outcome.pair])
    return [
        PillarStatistics(
            session=material.session,
            pillar_a_id=pillar_ids[a],
            pillar_b_id=pillar_ids[b],
            avg_confidence=sum(confidences[a, b]) / len(confidences[a, b]),
            **row,
        )
        for (a, b), row in sorted(counts.items())
    ]


def _likert_means(session: JudgeSession) -> dict[int, dict[str, float]]:
    """Mean score per thread and criterion over all presentations, in four grouped queries."""
    sums: defaultdict[tuple[int, str], list[tuple[float, int]]] = defaultdict(list)
    scores = CriterionScore.objects.filter(evaluation__comparison__session=session).order_by()
    for order in (1, 2):
        for side, other in (("a", "b"), ("b", "a")):
            thread = f"evaluation__comparison__pair__thread_{side if order == 1 else other}"
            rows = scores.filter(evaluation__comparison__position_order=order).values_list(thread, "criterion__key")
            for thread_id, key, mean, n in rows.annotate(mean=Avg(f"score_{side}"), n=Count("pk")):
                sums[thread_id, key].append((mean, n))
    means: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for (thread_id, key), parts in sorted(sums.items()):
        means[thread_id][key] = sum(mean * n for mean, n in parts) / sum(n for _, n in parts)
    return dict(means)
