"""Comparisons as the API lists them."""

from django.db.models import Prefetch, QuerySet
from django.http import Http404

from judge.models import CriterionScore, JudgeComparison, JudgeSession

_PAIR = ("pair__thread_a", "pair__thread_b", "pair__pillar_a", "pair__pillar_b", "judge")
# A raw answer may be a megabyte; a list shows none of it.
_LONG = ("raw_response", "verdict", "chain_of_thought", "reasoning")


def comparison_list(session: JudgeSession, status: str = "", winner: str = "") -> QuerySet[JudgeComparison]:
    """The comparisons of a session in queue order, optionally of one status or with one winner (A, B, TIE)."""
    rows = JudgeComparison.objects.filter(session=session)
    if status:
        rows = rows.filter(status=status)
    if winner:
        rows = rows.filter(evaluation__winner=winner)
    long_texts = [f"evaluation__{name}" for name in _LONG]
    return rows.select_related(*_PAIR, "evaluation").defer(*long_texts).order_by("queue_position")


def waiting_list(session: JudgeSession) -> QuerySet[JudgeComparison]:
    """The comparisons that wait, in the order in which they will be taken."""
    return JudgeComparison.objects.filter(session=session).waiting().select_related(*_PAIR)


def comparison_detail(session: JudgeSession, pk: int) -> JudgeComparison:
    """One comparison of the session with verdict, scores and attempts.

    Raises:
        Http404: the session has no such comparison.
    """
    scores = Prefetch("evaluation__scores", CriterionScore.objects.select_related("criterion"))
    rows = JudgeComparison.objects.filter(session=session, pk=pk).select_related(*_PAIR, "evaluation")
    comparison = rows.prefetch_related(scores, "attempts").first()
    if comparison is None:
        raise Http404
    return comparison
