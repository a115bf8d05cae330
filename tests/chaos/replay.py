"""The ratings computed once more, by other code than the product's: what an undisturbed replay comes to."""

from collections import defaultdict

from judge.models import JudgeEvaluation, JudgeSession

START, K = 1500.0, 32.0


def replayed_elo(session: JudgeSession) -> dict[int, float]:
    """Thread id -> ELO, from the stored verdicts alone, pair by pair in plan order."""
    columns = ("comparison__pair__queue_order", "comparison__pair__thread_a", "comparison__pair__thread_b")
    verdicts: defaultdict[tuple[int, int, int], list[float]] = defaultdict(list)
    rows = JudgeEvaluation.objects.filter(comparison__session=session)
    for order, a, b, position, winner in rows.values_list(*columns, "comparison__position_order", "winner"):
        score_of_first = {"A": 1.0, "TIE": 0.5, "B": 0.0}[winner]
        verdicts[order, a, b].append(score_of_first if position == 1 else 1 - score_of_first)
    elo: defaultdict[int, float] = defaultdict(lambda: START)
    for (_, a, b), scores in sorted(verdicts.items()):
        # Both orders name the same thread, or it is a tie.
        score = scores[0] if len(set(scores)) == 1 else 0.5
        change = K * (score - 1 / (1 + 10 ** ((elo[b] - elo[a]) / 400)))
        elo[a] += change
        elo[b] -= change
    return dict(elo)
