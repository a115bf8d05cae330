"""Hypothesis strategies for verdicts and matches."""

from hypothesis import strategies as st

from judge.statistics.matches import Match, PillarMatch
from judge.statistics.outcomes import Presentation

winners = st.sampled_from(["A", "B", "TIE"])
results = st.sampled_from(["a", "b", "tie"])
presentations = st.lists(
    st.builds(Presentation, st.integers(0, 8), st.integers(1, 3), st.sampled_from([1, 2]), winners),
    unique_by=lambda row: (row.pair, row.judge, row.position_order),
    max_size=40,
)
thread_pairs = st.tuples(st.integers(0, 11), st.integers(0, 11)).filter(lambda pair: pair[0] != pair[1])
matches = st.lists(st.builds(lambda pair, result: Match(*pair, result), thread_pairs, results), max_size=60)


def _in_pillars(pair: tuple[int, int], result: str, conflict: str) -> PillarMatch:
    a, b = pair
    return PillarMatch(
        a,
        b,
        result,  # type: ignore[arg-type]
        conflict if result == "tie" and conflict else None,  # type: ignore[arg-type]
        pillar_a=a % 3,
        pillar_b=b % 3,
    )


pillar_matches = st.lists(
    st.builds(_in_pillars, thread_pairs, results, st.sampled_from(["", "primacy", "recency", "mixed"])), max_size=60
)
OPPOSITE = {"a": "b", "b": "a", "tie": "tie"}


def relabelled(match: PillarMatch) -> PillarMatch:
    """The same match with its sides named the other way round."""
    return PillarMatch(
        match.thread_b,
        match.thread_a,
        OPPOSITE[match.result],  # type: ignore[arg-type]
        match.conflict,
        pillar_a=match.pillar_b,
        pillar_b=match.pillar_a,
    )
