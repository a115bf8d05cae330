"""The adaptive mode against a planted truth: Kendall's tau-b of the fitted strengths by number of comparisons.

    OMP_NUM_THREADS=1 python -m bench.adaptive [--plot FILE] [--replicates N]

Beside round robin, random pairs and a Swiss tournament; all designs are fitted by the same regularised Bradley-Terry
model. It takes some minutes on one core, needs no servers, and exits with 1 when a goal is missed.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from scipy.stats import kendalltau

from bench.adaptive_bound import share_needed
from bench.adaptive_designs import (
    Floats,
    Judged,
    Pair,
    World,
    adaptive,
    random_pairs,
    round_robin,
    swiss,
    world,
)
from judge.statistics.standing import Standing, regularised

RIVALS = ("round robin", "random pairs", "Swiss")
ONCE, TWICE = "adaptive", "adaptive, pairs up to twice"
DIGITS = 8  # strengths that agree this far are the same: what differs further out is rounding


@dataclass(frozen=True)
class Setting:
    """One size of the benchmark. Budgets are in comparisons per thread; all pairs once is added as the last."""

    threads: int
    replicates: int
    yardsticks: int
    budgets: tuple[float, ...]
    share: float  # goal: the tau of all pairs with no more than this share of them, when pairs may come twice


SETTINGS = (
    Setting(30, 200, 20, (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7.25, 8, 9, 10, 11, 12, 13), 0.75),
    Setting(100, 30, 3, (1, 1.5, 2, 2.5, 3, 4, 6, 8, 10, 14, 20, 25, 30, 35, 40, 45), 0.70),
)
AHEAD_FROM = 2.5  # comparisons per thread; with fewer the designs are still much alike, and none may be clearly better


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
        ahead = self.taus[ONCE] - self.taus[rival]
        return ahead.mean(axis=0), ahead.std(axis=0, ddof=1) / np.sqrt(len(ahead))

    def share_reached(self, design: str) -> float:
        """Share of all pairs at which the mean tau is first that of all pairs once, between budgets interpolated."""
        means, goal = self.means(design), self.means(RIVALS[0])[-1]
        at = int(np.argmax(means >= goal - 1e-12))
        budget = np.interp(goal, means[at - 1 : at + 1], self.budgets[at - 1 : at + 1])
        return float(budget) / self.budgets[-1]


def measure(setting: Setting, replicates: int) -> Curves:
    """Play every design on the same planted worlds."""
    pairs = setting.threads * (setting.threads - 1) // 2
    budgets = [*(int(share * setting.threads) for share in setting.budgets), pairs]
    taus: dict[str, list[list[float]]] = {}
    for seed in range(replicates):
        planted = world(setting.threads, seed)
        orders = {
            "round robin": round_robin(planted, Random(f"round robin/{seed}")),
            "random pairs": random_pairs(planted, Random(f"random pairs/{seed}")),
            "Swiss": swiss(planted, Random(f"Swiss/{seed}")),
            ONCE: adaptive(planted, f"adaptive/{seed}"),
            TWICE: adaptive(planted, f"adaptive/{seed}", most_meetings=2),
        }
        for design, order in orders.items():
            taus.setdefault(design, []).append(_taus(planted, order, budgets))
    return Curves(setting, budgets, {design: np.array(rows) for design, rows in taus.items()})


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
    """The goals that were missed, in words."""
    missed = []
    for rival in RIVALS:
        lead, error = curves.lead(rival)
        for budget, ahead, unsure in zip(curves.budgets[:-1], lead, error, strict=False):
            early = budget < AHEAD_FROM * curves.setting.threads
            if ahead < (-2.0 * unsure if early else 0.0):
                missed.append(f"{ahead:+.4f} against {rival} with {budget} comparisons")
    share = curves.share_reached(TWICE)
    if share > curves.setting.share:
        missed.append(f"{share:.0%} of all pairs for the tau of all pairs, goal {curves.setting.share:.0%}")
    return missed


def show(curves: Curves) -> None:
    """Print the table of one size: mean tau, and the lead over each rival with its standard error in brackets."""
    setting = curves.setting
    replicates = len(curves.taus[ONCE])
    print(f"\n{setting.threads} threads, {curves.budgets[-1]} pairs, {replicates} replicates.")
    print("Kendall's tau-b; beside each rival the lead over it (standard error), in ten-thousandths.")
    print(f"{'comparisons':>12}{'of all':>8}" + "".join(f"{name:>23}" for name in RIVALS) + f"{ONCE:>10}{'twice':>9}")
    leads = {rival: curves.lead(rival) for rival in RIVALS}
    for i, budget in enumerate(curves.budgets):
        cells = "".join(
            f"{curves.means(rival)[i]:>10.4f}{leads[rival][0][i] * 1e4:>+6.0f} ({leads[rival][1][i] * 1e4:3.0f})"
            for rival in RIVALS
        )
        own = f"{curves.means(ONCE)[i]:>10.4f}{curves.means(TWICE)[i]:>9.4f}"
        print(f"{budget:>12}{budget / curves.budgets[-1]:>8.0%}{cells}{own}")
    print(f"tau of all pairs once reached with {curves.share_reached(ONCE):.0%} of them", end=", ")
    print(f"{curves.share_reached(TWICE):.0%} when pairs may come twice", end=", ")
    needed = np.mean([share_needed(world(setting.threads, seed)) for seed in range(setting.yardsticks)])
    print(f"{needed:.0%} if the strengths were known beforehand")


def main() -> int:
    """Measure, print, plot; 0 when each goal was reached."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plot", metavar="FILE", help="write the curves there, as SVG")
    parser.add_argument("--replicates", type=int, help="instead of 200 at 30 threads and 30 at 100")
    options = parser.parse_args()
    all_curves = []
    missed: list[str] = []
    for setting in SETTINGS:
        started = time.perf_counter()
        curves = measure(setting, options.replicates or setting.replicates)
        show(curves)
        print(f"{time.perf_counter() - started:.0f} s")
        all_curves.append(curves)
        missed += [f"{setting.threads} threads: {text}" for text in misses(curves)]
    if options.plot:
        from bench.adaptive_plot import plot  # only here: the charting library is not needed to measure

        plot(all_curves, options.plot)
    print("\n" + "\n".join(f"missed: {text}" for text in missed) if missed else "\nall goals reached")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
