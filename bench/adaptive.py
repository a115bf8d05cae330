"""The adaptive mode against a planted truth: Kendall's tau-b of the fitted strengths by number of comparisons.

    OMP_NUM_THREADS=1 python -m bench.adaptive [--plot FILE] [--threads N] [--replicates N] [--meetings N]

Beside round robin, random pairs and a Swiss tournament; all designs are fitted by the same regularised Bradley-Terry
model. It takes some minutes on one core, needs no servers, and exits with 1 when a figure is worse than expected.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from scipy.stats import kendalltau

from bench.adaptive_designs import (
    MOST_MEETINGS,
    Floats,
    Judged,
    World,
    adaptive,
    random_pairs,
    round_robin,
    swiss,
    world,
)
from bench.adaptive_yardstick import easier_taus
from judge.statistics.standing import Pair, Standing, regularised

RIVALS = ("round robin", "random pairs", "Swiss")
ADAPTIVE = "adaptive"
DIGITS = 8  # strengths that agree this far are the same: what differs further out is rounding


@dataclass(frozen=True)
class Setting:
    """One size of the benchmark. Budgets are in comparisons per thread; all pairs once is added as the last.

    `share` and `clear_from` are the figures expected: the tau of all pairs is reached with no more than that share of
    them, and from so many comparisons per thread on the lead is more than twice its standard error.
    """

    threads: int
    replicates: int
    budgets: tuple[float, ...]
    share: float
    clear_from: float


SETTINGS = (
    Setting(30, 300, (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7.25, 8, 9, 10, 11, 12, 13), 0.75, 5),
    Setting(100, 30, (1, 1.5, 2, 2.5, 3, 4, 6, 8, 10, 14, 19.8, 25, 30, 35, 40, 45), 0.68, 10),
)
EASIER_SHARES = (0.3, 0.4, 0.5, 0.55, 0.6, 0.65)  # budgets of the yardstick, of all pairs


@dataclass(frozen=True)
class Curves:
    """Tau of each design: replicates x budgets."""

    setting: Setting
    budgets: Sequence[int]
    taus: dict[str, Floats]

    def means(self, design: str) -> Floats:
        """Mean tau at each budget."""
        return np.asarray(self.taus[design].mean(axis=0))

    def lead(self, rival: str) -> tuple[Floats, Floats]:
        """How far the adaptive design is ahead of another at each budget, and the standard error of that."""
        ahead = self.taus[ADAPTIVE] - self.taus[rival]
        return ahead.mean(axis=0), ahead.std(axis=0, ddof=1) / np.sqrt(len(ahead))

    def share_reached(self) -> float:
        """Share of all pairs with which the adaptive design has the mean tau of all pairs once."""
        return _share(self.means(RIVALS[0])[-1], self.budgets, self.means(ADAPTIVE), self.budgets[-1])


def _share(goal: float, budgets: Sequence[int], means: Floats, pairs: int) -> float:
    """Share of all pairs at which the mean tau is first `goal`, between budgets interpolated; NaN if it never is."""
    at = int(np.argmax(means >= goal - 1e-12))
    if means[at] < goal - 1e-12:
        return float("nan")
    start = max(at - 1, 0)
    return float(np.interp(goal, means[start : at + 1], budgets[start : at + 1])) / pairs


def measure(setting: Setting, replicates: int, most_meetings: int) -> Curves:
    """Play every design on the same planted worlds."""
    pairs = setting.threads * (setting.threads - 1) // 2
    budgets = [*(round(share * setting.threads) for share in setting.budgets), pairs]
    taus: dict[str, list[list[float]]] = {}
    for seed in range(replicates):
        planted = world(setting.threads, seed, most_meetings)
        orders = {
            "round robin": round_robin(planted, Random(f"round robin/{seed}")),
            "random pairs": random_pairs(planted, Random(f"random pairs/{seed}")),
            "Swiss": swiss(planted, Random(f"Swiss/{seed}")),
            ADAPTIVE: adaptive(planted, f"adaptive/{seed}", most_meetings),
        }
        for design, order in orders.items():
            taus.setdefault(design, []).append(_taus(planted, order, budgets))
    return Curves(setting, budgets, {design: np.array(rows) for design, rows in taus.items()})


def easier_share(curves: Curves) -> float:
    """Share of all pairs with which the easier game of `bench.adaptive_yardstick` reaches the tau of all pairs once."""
    threads, pairs = curves.setting.threads, curves.budgets[-1]
    budgets = [round(share * pairs) for share in EASIER_SHARES]
    seeds = range(len(curves.taus[ADAPTIVE]))
    means = np.mean([easier_taus(world(threads, seed), seed, budgets) for seed in seeds], axis=0)
    return _share(curves.means(RIVALS[0])[-1], budgets, means, pairs)


def _taus(planted: World, order: Sequence[Pair], budgets: Sequence[int]) -> list[float]:
    judged = Judged(planted)
    judged.add(order)
    taus = []
    for budget in budgets:
        counts = Standing(range(planted.size), judged.matches[:budget], {}).counts()
        fitted = np.round(regularised(counts), DIGITS)
        taus.append(float(kendalltau(planted.strengths, fitted).statistic))
    return taus


def misses(curves: Curves) -> list[str]:
    """The figures that are worse than expected, in words."""
    missed = []
    for rival in RIVALS:
        lead, error = curves.lead(rival)
        for budget, ahead, unsure in zip(curves.budgets[:-1], lead, error, strict=False):
            is_early = budget < curves.setting.clear_from * curves.setting.threads
            if ahead < (-2.0 if is_early else 2.0) * unsure:
                missed.append(f"{ahead:+.4f} (standard error {unsure:.4f}) on {rival} with {budget} comparisons")
    if not curves.share_reached() <= curves.setting.share:
        missed.append(f"{curves.share_reached():.0%} of all pairs for their tau, expected {curves.setting.share:.0%}")
    return missed


def show(curves: Curves) -> None:
    """Print the table of one size: mean tau, and the lead over each rival with its standard error in brackets."""
    print(f"\n{curves.setting.threads} threads, {curves.budgets[-1]} pairs, {len(curves.taus[ADAPTIVE])} replicates.")
    print("Kendall's tau-b; beside each rival the lead over it (standard error), in ten-thousandths.")
    print(f"{'comparisons':>12}{'of all':>8}" + "".join(f"{name:>23}" for name in RIVALS) + f"{ADAPTIVE:>10}")
    leads = {rival: curves.lead(rival) for rival in RIVALS}
    for i, budget in enumerate(curves.budgets):
        cells = "".join(
            f"{curves.means(rival)[i]:>10.4f}{leads[rival][0][i] * 1e4:>+6.0f} ({leads[rival][1][i] * 1e4:3.0f})"
            for rival in RIVALS
        )
        print(f"{budget:>12}{budget / curves.budgets[-1]:>8.0%}{cells}{curves.means(ADAPTIVE)[i]:>10.4f}")
    print(
        f"tau of all pairs once: reached with {curves.share_reached():.1%} of them; "
        f"in the easier game with {easier_share(curves):.1%}"
    )


def main() -> int:
    """Measure, print, plot; 0 when each figure is as good as expected."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE", help="write the curves there, as SVG")
    parser.add_argument("--replicates", type=int, help="instead of 300 at 30 threads and 30 at 100")
    parser.add_argument("--meetings", type=int, default=MOST_MEETINGS, help="how often a pair may be compared")
    parser.add_argument("--threads", type=int, choices=[s.threads for s in SETTINGS], help="one size only")
    options = parser.parse_args()
    all_curves = []
    missed: list[str] = []
    for setting in SETTINGS:
        if options.threads not in (None, setting.threads):
            continue
        started = time.perf_counter()
        curves = measure(setting, options.replicates or setting.replicates, options.meetings)
        show(curves)
        print(f"{time.perf_counter() - started:.0f} s", flush=True)
        all_curves.append(curves)
        missed += [f"{setting.threads} threads: {text}" for text in misses(curves)]
    if options.plot:
        from bench.adaptive_plot import plot  # only here: the charting library is not needed to measure

        plot(all_curves, options.plot)
    print("\n" + "\n".join(f"missed: {text}" for text in missed) if missed else "\nall figures as expected")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
