import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judge.statistics.distributions import exact_half_p, exact_interval
from judge.statistics.intervals import ScoredMatches, cluster_robust, clustered, score_rate, wilson, win_rate
from tests.statistics import strategies


def scored(matches):
    return [ScoredMatches(m.thread_a, m.thread_b, {"a": 2, "tie": 1, "b": 0}[m.result]) for m in matches]


def test_rates_by_hand():
    assert win_rate(3, 1, 4) == 3 / 8
    assert score_rate(3, 1, 4) == 5 / 8
    assert win_rate(0, 0, 0) is None
    assert score_rate(0, 0, 0) is None


def test_wilson_is_the_known_value():
    rate = wilson(8, 10)
    assert (rate.value, rate.n, rate.method) == (0.8, 10, "wilson")
    assert (rate.low, rate.high) == pytest.approx((0.490162471536, 0.943317848545), abs=1e-11)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(counts):
    successes, n = counts
    rate = wilson(successes, n)
    interval = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert (rate.low, rate.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert 0 <= rate.low <= rate.value <= rate.high <= 1


def test_wilson_ends_exactly_at_zero_and_one():
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 3), (4, 3)])
def test_wilson_refuses_what_is_no_proportion(successes, n):
    with pytest.raises(ValueError, match="not a proportion"):
        wilson(successes, n)


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_exact_interval_and_test_agree_with_scipy_and_with_each_other(counts):
    successes, n = counts
    test = stats.binomtest(successes, n)
    interval = test.proportion_ci(method="exact")
    assert exact_interval(successes, n) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert exact_half_p(successes, n) == pytest.approx(test.pvalue, rel=1e-9)
    low, high = exact_interval(successes, n)
    assert (exact_half_p(successes, n) < 0.05) == (not low <= 0.5 <= high)


def test_one_to_one_pairs_by_hand():
    """Every thread meets once: V = sum of squared residuals / n^2 x G / (G - 1) = p (1 - p) / (G - 1)."""
    rows = [ScoredMatches(i, 100 + i, 2 if i < 8 else 0) for i in range(10)]
    estimate = cluster_robust(rows)
    error = math.sqrt(0.8 * 0.2 / 9) / (0.8 * 0.2)
    reach = stats.t.ppf(0.975, 9) * error
    assert estimate is not None
    assert (estimate.rate.value, estimate.rate.n, estimate.threads) == (0.8, 10, 10)
    assert estimate.rate.low == pytest.approx(1 / (1 + math.exp(-(math.log(4) - reach))), rel=1e-12)
    assert estimate.rate.high == pytest.approx(1 / (1 + math.exp(-(math.log(4) + reach))), rel=1e-12)
    assert estimate.p_value == pytest.approx(2 * stats.t.sf(math.log(4) / error, 9), rel=1e-12)
    assert estimate.no_clear_difference
    assert not estimate.is_fallback


def test_two_way_variance_by_hand():
    """2 x 2 threads, won 1, 1, 1, 0: residuals 1/4, 1/4, 1/4, -3/4; a: 1/2, -1/2; b: 1/2, -1/2."""
    rows = [
        ScoredMatches("a", "x", 2),
        ScoredMatches("a", "y", 2),
        ScoredMatches("b", "x", 2),
        ScoredMatches("b", "y", 0),
    ]
    estimate = cluster_robust(rows)
    side = (1 / 4 + 1 / 4) / 16 * 2
    both = (3 / 16 + 9 / 16) / 16 * 4 / 3
    variance = max(side + side - both, side)
    error = math.sqrt(variance) / (0.75 * 0.25)
    assert estimate is not None
    assert estimate.threads == 2
    assert estimate.p_value == pytest.approx(2 * stats.t.sf(math.log(3) / error, 1), rel=1e-12)


@pytest.mark.parametrize(
    ("rows", "threads"),
    [
        ([ScoredMatches(1, 10 + i, 2 * (i % 2)) for i in range(6)], 1),
        ([ScoredMatches(i, 10 + i, 2) for i in range(5)], 5),
        ([ScoredMatches(i, 10 + i, 0) for i in range(5)], 5),
        ([ScoredMatches(i, 10 + i, 1) for i in range(5)], 5),
    ],
    ids=["one thread", "all won", "all lost", "all tied"],
)
def test_where_no_cluster_variance_exists_the_exact_interval_over_threads_is_flagged(rows, threads):
    assert cluster_robust(rows) is None
    estimate = clustered(rows)
    assert estimate.is_fallback
    assert estimate.rate.method == "exact"
    assert estimate.threads == threads
    assert (estimate.rate.low, estimate.rate.high) == exact_interval(estimate.rate.value * threads, threads)
    assert estimate.no_clear_difference


def test_six_of_six_threads_are_a_clear_difference_and_five_of_five_are_not():
    five = clustered(ScoredMatches(i, 10 + i, 2) for i in range(5))
    six = clustered(ScoredMatches(i, 10 + i, 2) for i in range(6))
    assert (five.p_value, six.p_value) == pytest.approx((2 / 2**5, 2 / 2**6), rel=1e-12)
    assert five.no_clear_difference
    assert not six.no_clear_difference


def test_repeating_matches_of_the_same_threads_does_not_make_the_interval_narrow():
    once = [ScoredMatches(i, 10 + i, 2 if i < 4 else 0) for i in range(6)]
    assert clustered(once * 50).rate.low == pytest.approx(clustered(once).rate.low, rel=1e-12)


def test_a_rate_needs_a_match():
    with pytest.raises(ValueError, match="at least one match"):
        clustered([])


@given(strategies.matches.filter(len), st.randoms(use_true_random=False))
def test_the_order_of_the_matches_changes_no_digit(matches, random: Random):
    rows = scored(matches)
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert clustered(shuffled) == clustered(rows)


@given(strategies.matches.filter(len))
def test_counting_matches_of_the_same_threads_together_changes_nothing(matches):
    together: dict[tuple[object, object], list[int]] = {}
    for row in scored(matches):
        cell = together.setdefault((row.thread_a, row.thread_b), [0, 0])
        cell[0] += row.half_points
        cell[1] += 1
    counted = [ScoredMatches(a, b, points, n) for (a, b), (points, n) in together.items()]  # type: ignore[arg-type]
    assert clustered(counted) == clustered(scored(matches))


@given(strategies.matches.filter(len))
def test_seen_from_the_other_side_the_interval_is_mirrored_and_the_test_the_same(matches):
    rows = scored(matches)
    here = clustered(rows)
    there = clustered(ScoredMatches(row.thread_b, row.thread_a, 2 - row.half_points) for row in rows)
    assert there.p_value == pytest.approx(here.p_value, rel=1e-12, abs=1e-15)
    assert (there.rate.low, there.rate.high) == pytest.approx((1 - here.rate.high, 1 - here.rate.low), abs=1e-12)


@given(strategies.matches.filter(len))
def test_the_interval_holds_the_rate_and_leaves_out_a_half_exactly_if_the_test_is_significant(matches):
    estimate = clustered(scored(matches))
    rate = estimate.rate
    assert 0 <= rate.low <= rate.value <= rate.high <= 1
    if abs(estimate.p_value - 0.05) > 1e-9:
        assert estimate.no_clear_difference == (rate.low <= 0.5 <= rate.high)


def test_it_covers_the_truth_about_95_times_in_100_where_wilson_over_matches_does_not():
    """Threads of normal quality, 12 a side, everyone meets everyone; the pillars do not differ, so the truth is 1/2."""
    generator = np.random.default_rng(20240501)
    covered = covered_by_wilson = 0
    trials = 400
    for _ in range(trials):
        side_a, side_b = generator.standard_normal((2, 12))
        chance = 1 / (1 + np.exp(side_b[None, :] - side_a[:, None]))
        won = generator.random((12, 12)) < chance
        rate = clustered(ScoredMatches(i, 100 + j, 2 * int(won[i, j])) for i in range(12) for j in range(12)).rate
        naive = wilson(int(won.sum()), 144)
        covered += rate.low <= 0.5 <= rate.high
        covered_by_wilson += naive.low <= 0.5 <= naive.high
    assert 0.93 <= covered / trials <= 0.985
    assert covered_by_wilson / trials < 0.85
