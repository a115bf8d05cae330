"""The results of a session as lines for a terminal."""

from collections.abc import Iterator

from judge.models import JudgeSession
from judge.selectors.results import session_results

TOP = 10


def leaderboard_lines(session: JudgeSession, top: int = TOP) -> Iterator[str]:
    """Pillars, best first, with score rate, interval and n; then the best threads by ELO."""
    results = session_results(session)
    if results is None or not results.leaderboard:
        yield "No pair was judged completely; there is no leaderboard."
        return
    models = [judge.model for judge in session.session_judges.select_related("model__provider")]
    if any(model.provider.is_simulated for model in models):
        yield "Simulated, no LLM: these numbers show how the program works and nothing else."
    yield f"Pairs {results.pairs_complete} of {results.pairs_total}, failed comparisons {results.failed}"
    yield ""
    yield f"{'':>3} {'Pillar':<32} {'score':>7} {'95 % interval':>17} {'n':>5} {'mean ELO':>9}"
    for row in results.pillars:
        name = f"{row['number']} {row['name_de'] or row['name']}"[:32]
        if row["score_rate"] is None:
            yield f"{row['rank']:>3} {name:<32} {'-':>7}"
            continue
        interval = f"{100 * row['low']:.1f} - {100 * row['high']:.1f} %"
        elo = f"{row['avg_elo']:.0f}" if row["avg_elo"] is not None else "-"
        yield f"{row['rank']:>3} {name:<32} {100 * row['score_rate']:>6.1f}% {interval:>17} {row['n']:>5} {elo:>9}"
    yield ""
    yield f"{'':>3} {'Thread':<8} {'Pillar':>6} {'ELO':>7} {'wins':>5} {'losses':>7} {'ties':>5}"
    for row in results.leaderboard[:top]:
        yield (
            f"{row['rank']:>3} {'T' + str(row['thread_id']):<8} {row['pillar']:>6} {row['elo_score']:>7.1f} "
            f"{row['wins']:>5} {row['losses']:>7} {row['ties']:>5}"
        )
