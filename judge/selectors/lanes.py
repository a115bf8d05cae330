"""What the lanes of a session show."""

from dataclasses import dataclass

from django.db.models import Prefetch, QuerySet

from judge import events
from judge.models import CriterionScore, JudgeComparison, JudgeSession


@dataclass(frozen=True)
class Lane:
    """One worker of a session: what it judges now (texts prefetched), the answer so far, and its last finished one."""

    worker_id: int
    comparison: JudgeComparison | None
    stream_text: str
    last: JudgeComparison | None

    @property
    def number(self) -> int:
        """The number people see, from 1."""
        return self.worker_id + 1

    @property
    def is_running(self) -> bool:
        """Whether a comparison is being judged in this lane."""
        return self.comparison is not None


def lanes(session: JudgeSession) -> list[Lane]:
    """All lanes of a session in order: a fixed number of queries, and one short look per lane (5 at most)."""
    running = {c.worker_id: c for c in JudgeComparison.objects.filter(session=session).in_lanes().with_texts()}
    last = _last_finished(session)
    return [_lane(number, running.get(number), last.get(number)) for number in range(session.worker_count)]


def lane(session: JudgeSession, worker_id: int) -> Lane:
    """One lane of a session."""
    running = JudgeComparison.objects.filter(session=session, worker_id=worker_id).in_lanes().with_texts().first()
    return _lane(worker_id, running, _last_finished(session, worker_id).get(worker_id))


def _lane(worker_id: int, running: JudgeComparison | None, last: JudgeComparison | None) -> Lane:
    text = events.partial_answer(running.pk, str(running.claim_token)) if running else ""
    return Lane(worker_id=worker_id, comparison=running, stream_text=text, last=last)


def _last_finished(session: JudgeSession, worker_id: int | None = None) -> dict[int, JudgeComparison]:
    finished = JudgeComparison.objects.filter(session=session).finished().order_by("-completed_at", "-pk")
    numbers = range(session.worker_count) if worker_id is None else (worker_id,)
    # By id and not by the newest moment of each lane: a moment read back from SQLite does not equal the stored one.
    newest = [finished.filter(worker_id=number).values_list("pk", flat=True).first() for number in numbers]
    rows = (
        JudgeComparison.objects.filter(pk__in=[pk for pk in newest if pk is not None])
        .with_texts()
        .select_related("evaluation")
        .prefetch_related(Prefetch("evaluation__scores", CriterionScore.objects.select_related("criterion")))
    )
    return {row.worker_id: row for row in rows if row.worker_id is not None}


def queue(session: JudgeSession, limit: int = 10) -> list[JudgeComparison]:
    """The next waiting comparisons."""
    waiting = JudgeComparison.objects.filter(session=session).waiting()
    return list(waiting.select_related("pair__thread_a", "pair__thread_b", "pair__pillar_a", "pair__pillar_b")[:limit])


def history(session: JudgeSession) -> QuerySet[JudgeComparison]:
    """Finished comparisons, newest first, as a queryset for a paginator."""
    return (
        JudgeComparison.objects.filter(session=session)
        .finished()
        .select_related("evaluation", "pair__thread_a", "pair__thread_b", "pair__pillar_a", "pair__pillar_b")
        .order_by("-completed_at", "-pk")
    )


def swap_twin(comparison: JudgeComparison) -> JudgeComparison | None:
    """The other presentation of the same pair to the same judge."""
    return (
        JudgeComparison.objects.filter(pair=comparison.pair_id, judge=comparison.judge_id)
        .exclude(pk=comparison.pk)
        .select_related("evaluation")
        .first()
    )
