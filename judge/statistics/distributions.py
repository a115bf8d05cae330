"""The one typed door to scipy's distributions (scipy carries no type information)."""

from scipy import special, stats  # type: ignore[import-untyped, unused-ignore]

CONFIDENCE = 0.95
ALPHA = 0.05


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution."""
    return float(special.ndtri(probability))


def t_quantile(probability: float, df: int) -> float:
    """Quantile of Student's t with `df` degrees of freedom."""
    return float(special.stdtrit(df, probability))


def t_two_sided(t: float, df: int) -> float:
    """Probability, under Student's t with `df` degrees of freedom, of a value at least as far from 0 as `t`."""
    return min(1.0, 2.0 * float(special.stdtr(df, -abs(t))))


def exact_interval(successes: float, n: float) -> tuple[float, float]:
    """Clopper-Pearson 95 % interval of a proportion, from beta quantiles; fractional successes are allowed."""
    tail = (1.0 - CONFIDENCE) / 2.0
    low = 0.0 if successes <= 0 else float(special.betaincinv(successes, n - successes + 1.0, tail))
    high = 1.0 if successes >= n else float(special.betaincinv(successes + 1.0, n - successes, 1.0 - tail))
    return low, high


def exact_half_p(successes: float, n: float) -> float:
    """Two-sided exact test of a proportion against 1/2: below .05 exactly if `exact_interval` leaves out 1/2.

    For whole successes this is the exact binomial test (it is symmetric at 1/2, so both tails are equal).
    """
    extreme = max(successes, n - successes)
    upper_tail = float(special.betainc(extreme, n - extreme + 1.0, 0.5))
    return min(1.0, 2.0 * upper_tail)


def sign_test(first: int, second: int) -> float:
    """Exact two-sided binomial test of `first` against `second` at 1/2; at least one must be positive."""
    return float(stats.binomtest(first, first + second, 0.5).pvalue)
