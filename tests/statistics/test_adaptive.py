"""The pairs that an adaptive session plans next."""

import time
from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from judge.statistics.adaptive import batch_size, expected_information, next_batch, worth_of_certainty
from judge.statistics.matches import Match
from judge.statistics.standing import Pair, Standing
from tests.statistics.strategies import results


def key(pair: Pair) -> Pair:
    return min(pair), max(pair)


def pairs_of(threads: list[int]) -> int:
    return len(threads) * (len(threads) - 1) // 2


@st.composite
def standings(draw: st.DrawFn) -> Standing:
    """Any session: some pairs planned, once or several times, and some of these judged."""
    threads = sorted(draw(st.sets(st.integers(-5, 40), min_size=2, max_size=9)))
    sides = st.tuples(st.sampled_from(threads), st.sampled_from(threads)).filter(lambda pair: pair[0] != pair[1])
    planned = draw(st.lists(st.tuples(sides, st.none() | results), max_size=40))
    meetings = Counter(key(pair) for pair, _ in planned)
    matches = [Match(*pair, result) for pair, result in planned if result is not None]
    return Standing(threads, matches, meetings)


@given(standings(), st.integers(0, 45), st.integers(1, 3), st.integers())
def test_a_batch_holds_what_is_permitted_and_is_full_unless_nothing_is_left(
    standing: Standing, size: int, most_meetings: int, seed: int
) -> None:
    batch = next_batch(standing, size, most_meetings, Random(seed))
    chosen = {key(pair) for pair in batch}
    assert len(chosen) == len(batch)
    assert all(a != b and {a, b} <= set(standing.threads) for a, b in batch)
    assert all(standing.meetings.get(pair, 0) < most_meetings for pair in chosen)
    used_up = sum(times >= most_meetings for times in standing.meetings.values())
    assert len(batch) == min(size, pairs_of(list(standing.threads)) - used_up)


@given(standings(), st.integers(1, 12), st.integers(), st.randoms())
def test_the_same_standing_and_seed_give_the_same_batch(
    standing: Standing, size: int, seed: int, shuffle: Random
) -> None:
    matches = list(standing.matches)
    shuffle.shuffle(matches)
    turned = {(b, a): times for (a, b), times in reversed(standing.meetings.items())}
    other = Standing(standing.threads, matches, turned)
    assert next_batch(standing, size, 2, Random(seed)) == next_batch(other, size, 2, Random(seed))


@settings(max_examples=40)
@given(st.integers(2, 40), st.integers(1, 50), st.integers(), st.data())
def test_the_start_is_a_path_through_all_threads_in_batches_of_any_size(
    count: int, size: int, seed: int, data: st.DataObject
) -> None:
    threads = list(range(10, 10 + count))
    planned: list[Pair] = []
    matches: list[Match] = []
    while len(planned) < count - 1:
        standing = Standing(threads, matches, Counter(map(key, planned)))
        batch = next_batch(standing, min(size, count - 1 - len(planned)), 1, Random(seed + len(planned)))
        matches += [Match(*pair, data.draw(results)) for pair in batch]
        planned += batch
    uses = Counter(thread for pair in planned for thread in pair)
    assert sorted(uses) == threads
    assert max(uses.values()) <= 2
    assert len(reached(planned, threads[0])) == count


def reached(pairs: list[Pair], start: int) -> set[int]:
    found = {start}
    while more := {thread for pair in pairs if found & set(pair) for thread in pair} - found:
        found |= more
    return found


def test_another_seed_gives_another_start() -> None:
    standing = Standing(range(20), [], {})
    assert next_batch(standing, 10, 1, Random(1)) != next_batch(standing, 10, 1, Random(2))


def test_which_thread_is_shown_first_is_drawn() -> None:
    batches = [next_batch(Standing(range(2), [], {}), 1, 1, Random(seed))[0] for seed in range(20)]
    assert set(batches) == {(0, 1), (1, 0)}


def ladder(*rungs: tuple[Pair, int]) -> tuple[list[Match], Counter[Pair]]:
    """Matches that the first of each pair won, and how often each pair met."""
    matches = [Match(*pair, "a") for pair, times in rungs for _ in range(times)]
    return matches, Counter(key((int(match.thread_a), int(match.thread_b))) for match in matches)


def test_a_close_and_uncertain_pair_comes_before_a_decided_one() -> None:
    # 1 and 2 beat both 3 and 4, and 3 and 4 beat 5 and 6. Who is better of 3 and 4 is open; 1 against 6 is not.
    above = [((a, b), 2) for a, b in ((1, 3), (1, 4), (2, 3), (2, 4), (3, 5), (3, 6), (4, 5), (4, 6))]
    matches, meetings = ladder(*above)
    batch = next_batch(Standing(range(1, 7), matches, meetings), 3, 9, Random(7))
    assert {key(pair) for pair in batch} == {(1, 2), (3, 4), (5, 6)}


def test_a_pair_that_waits_counts_as_bought() -> None:
    # All four are alike, but two of them have games to come: it is the other two of whom more is to be learned.
    everybody = list(combinations(range(1, 5), 2))
    matches = [Match(a, b, "tie") for a, b in everybody]
    for waiting, rest in (((1, 2), (3, 4)), ((3, 4), (1, 2)), ((1, 4), (2, 3))):
        meetings = Counter(everybody) + Counter({waiting: 8})
        batch = next_batch(Standing(range(1, 5), matches, meetings), 1, 99, Random(1))
        assert key(batch[0]) == rest


def test_threads_known_to_be_equal_come_before_threads_that_still_wait() -> None:
    # 1 to 4 met in a ring and tied, 5 to 8 met in a ring and wait: two of these may well turn out far apart.
    rings = [[(a, b), (b, c), (c, d), (a, d)] for a, b, c, d in ((1, 2, 3, 4), (5, 6, 7, 8))]
    matches = [Match(*pair, "tie") for pair in rings[0]]
    between = [(a, b) for a in range(1, 5) for b in range(5, 9)]
    meetings = Counter([*rings[0], *rings[1], *between])
    for seed in range(10):
        batch = next_batch(Standing(range(1, 9), matches, meetings), 2, 1, Random(seed))
        assert {key(pair) for pair in batch} == {(1, 3), (2, 4)}


@pytest.mark.parametrize("difference", [0.0, 0.5, 2.0, -4.0])
@pytest.mark.parametrize("variance", [0.0, 0.3, 2.0, 8.0])
def test_the_expected_information_is_the_mean_over_the_uncertain_difference(difference: float, variance: float) -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    p = 1.0 / (1.0 + np.exp(-(difference + np.sqrt(variance) * nodes)))
    mean = (weights * p * (1.0 - p)).sum() / weights.sum()
    assert expected_information(np.array(difference), np.array(variance)) == pytest.approx(mean, rel=0.2, abs=0.005)


def chance_to_rank_wrongly(difference: float, now: float, left: float) -> float:
    """Over all means that may be found once the variance is down from `now` to `left`."""
    means, step = np.linspace(difference - 12 * now**0.5, difference + 12 * now**0.5, 200_001, retstep=True)
    gone = now - left
    density = np.exp(-((means - difference) ** 2) / (2 * gone)) / np.sqrt(2 * np.pi * gone)
    return float((density * ndtr(-np.abs(means) / np.sqrt(left))).sum() * step)


@pytest.mark.parametrize("difference", [0.0, 0.4, -1.5])
@pytest.mark.parametrize(("now", "left"), [(1.0, 0.5), (2.0, 0.3), (0.4, 0.2)])
def test_certainty_is_worth_what_it_takes_from_the_chance_to_rank_wrongly(
    difference: float, now: float, left: float
) -> None:
    more, less = (chance_to_rank_wrongly(difference, now, left + change) for change in (1e-3, -1e-3))
    worth = worth_of_certainty(np.array(difference), np.array(now), np.array(left))
    assert worth / (2 * np.pi) == pytest.approx((more - less) / 2e-3, rel=0.01)


def test_a_thread_whose_comparisons_all_fail_does_not_take_over() -> None:
    planned: list[Pair] = []
    matches: list[Match] = []
    while len(planned) < 60:
        standing = Standing(range(12), matches, Counter(map(key, planned)))
        batch = next_batch(standing, 5, 5, Random(len(planned)))
        planned += batch
        matches += [Match(a, b, "a" if a > b else "b") for a, b in batch if 0 not in (a, b)]
    assert sum(0 in pair for pair in planned) <= 15  # 10 would be its fair share


def test_a_batch_larger_than_half_of_the_threads_is_spread_over_all() -> None:
    batch = next_batch(Standing(range(10), [], {}), 15, 1, Random(3))
    uses = Counter(thread for pair in batch for thread in pair)
    assert len(uses) == 10
    assert max(uses.values()) <= 4


@pytest.mark.parametrize("threads", [[], [4]])
def test_fewer_than_two_threads_have_no_pairs(threads: list[int]) -> None:
    assert next_batch(Standing(threads, [], {}), 5, 1, Random(1)) == []


@pytest.mark.parametrize(("size", "most_meetings"), [(-1, 1), (5, 0)])
def test_nonsense_is_refused(size: int, most_meetings: int) -> None:
    with pytest.raises(ValueError, match="no batch"):
        next_batch(Standing(range(4), [], {}), size, most_meetings, Random(1))


@pytest.mark.parametrize(
    ("threads", "matches", "meetings"),
    [
        ([2, 1], [], {}),
        ([1, 1], [], {}),
        ([1, 2], [Match(1, 3, "a")], {}),
        ([1, 2], [Match("1", 2, "a")], {}),
        ([1, 2], [], {(1, 3): 1}),
        ([1, 2], [], {(1, 1): 1}),
        ([1, 2], [], {(1, 2): -1}),
    ],
)
def test_a_standing_that_does_not_fit_together_is_refused(
    threads: list[int], matches: list[Match], meetings: dict[Pair, int]
) -> None:
    with pytest.raises(ValueError, match="thread"):
        Standing(threads, matches, meetings)


def test_batches_are_an_eighth_of_the_threads_but_never_leave_a_lane_without_work() -> None:
    assert [batch_size(threads) for threads in (2, 40, 41, 100, 1000)] == [5, 5, 6, 13, 125]


def test_ten_times_the_threads_take_no_more_than_their_cube() -> None:
    # The matrix products grow with the cube; a step for each pair of pairs would grow with the fourth power.
    seconds = []
    for count in (30, 300):
        random = Random(count)
        planned = [key(pair) for pair in next_batch(Standing(range(count), [], {}), 3 * count, 1, random)]
        matches = [Match(a, b, "a" if random.random() < 0.5 else "b") for a, b in planned]
        standing = Standing(range(count), matches, Counter(planned))
        started = time.process_time()
        next_batch(standing, batch_size(count), 1, random)
        seconds.append(time.process_time() - started)
    assert seconds[1] < 1000 * seconds[0]
