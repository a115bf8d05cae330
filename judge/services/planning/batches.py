"""Which pairs an adaptive session compares next: its seed and what was judged before decide it, nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.domain.plan_outline import outline
from judge.domain.planning import PlannedPair, pools
from judge.domain.sampling import stream
from judge.domain.states import PlanEnd
from judge.models import JudgePair, JudgeSession, PlanBatch
from judge.services.material import read_material
from judge.services.planning.rows import PlanFrame, read_frame
from judge.statistics.adaptive import batch_size, next_batch
from judge.statistics.matches import Match
from judge.statistics.separation import is_settled
from judge.statistics.standing import Standing

Threads = tuple[int, int]


@dataclass(frozen=True)
class History:
    """What a batch is chosen after: the pairs planned so far as threads, in queue order; the outcomes that count; and
    the queue orders of older pairs that have none."""

    pairs: Sequence[Threads]
    matches: Sequence[Match]
    open_pairs: list[int]
    number: int

    def meetings(self) -> Counter[Threads]:
        """How often each pair was planned, smaller thread first."""
        return Counter((min(pair), max(pair)) for pair in self.pairs)


def history_of(session: JudgeSession) -> History:
    """What the next batch of a session is chosen after (six queries)."""
    batches = list(PlanBatch.objects.filter(session=session).order_by("number"))
    rows = JudgePair.objects.filter(session=session).order_by("queue_order")
    pairs = list(rows.values_list("thread_a", "thread_b"))
    seen = batches[-1].first_pair if batches else 0
    matches = _matches(session) if seen else {}
    return History(
        pairs=pairs,
        matches=[matches[order] for order in range(seen) if order in matches],
        open_pairs=[order for order in range(seen) if order not in matches],
        number=len(batches) + 1,
    )


def choose(frame: PlanFrame, history: History) -> list[PlannedPair] | PlanEnd:
    """The next batch within the budget, or why there is none."""
    threads = sorted({thread for pool in pools(frame.config, frame.threads).values() for thread in pool})
    standing = Standing(threads, history.matches, history.meetings())
    if history.matches and is_settled(standing):
        return PlanEnd.SEPARATED
    left = outline(frame.config, frame.threads).pairs - len(history.pairs)
    size = batch_size(len(threads))
    # One pair alone would make its swap twins neighbours, so it joins the batch before.
    size = left if left <= size + 1 else size
    random = stream(frame.config.seed, "batch", history.number)
    chosen = next_batch(standing, size, frame.config.repetitions_per_pair, random)
    return _planned(frame, history, chosen) if chosen else PlanEnd.EXHAUSTED


def replanned(session: JudgeSession) -> list[PlannedPair]:
    """The whole plan of an adaptive session, chosen again from its seed, its verdicts and the gaps noted then."""
    frame = read_frame(session)
    matches = _matches(session)
    plan: list[PlannedPair] = []
    seen = 0
    for batch in PlanBatch.objects.filter(session=session).order_by("number"):
        missing = set(batch.open_pairs)
        known = [matches[order] for order in range(seen) if order in matches and order not in missing]
        history = History([(pair.thread_a, pair.thread_b) for pair in plan], known, batch.open_pairs, batch.number)
        seen = len(plan)
        chosen = choose(frame, history)
        plan += [] if isinstance(chosen, PlanEnd) else chosen
    return plan


def _matches(session: JudgeSession) -> Mapping[int, Match]:
    """Outcomes by the queue order of their pair, in the reading that results have unless another is chosen."""
    material = read_material(session)
    return {outcome.pair: match for outcome, match in zip(material.outcomes, material.matches, strict=True)}


def _planned(frame: PlanFrame, history: History, chosen: Sequence[Threads]) -> list[PlannedPair]:
    """The chosen pairs as rows of the plan. A thread that several pillars hold stands for each of them in turn."""
    pillars: dict[int, list[int]] = {}
    for number, pool in pools(frame.config, frame.threads).items():
        for thread in pool:
            pillars.setdefault(thread, []).append(number)
    meetings = history.meetings()
    rows = []
    for queue_order, (a, b) in enumerate(chosen, start=len(history.pairs)):
        repetition = meetings[min(a, b), max(a, b)] + 1
        pillar_a, pillar_b = (pillars[thread][queue_order % len(pillars[thread])] for thread in (a, b))
        rows.append(PlannedPair(queue_order, repetition, a, b, pillar_a, pillar_b))
    return rows
