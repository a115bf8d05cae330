"""A provider's limits hold for all lanes of all sessions together; the server counts (the provider limits)."""

import time
from datetime import datetime, timedelta

import pytest
from django.conf import LazySettings
from django.db.models.functions import Now

from judge.domain.limits import LONGEST_WAIT, MINUTE
from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgeEvaluation, JudgeModel, JudgeSession, ProviderState
from judge.services import lanes, leases, queue, rates, recovery
from judge.services.lanes import run_lane
from judge.services.rates import RateLimits
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from tests.conftest import MakeSession
from tests.faults.conftest import Gate
from tests.faults.playing import at_work, judge_all, limit, moments, outcomes, reason, untouched
from tests.queue.held import held
from tests.queue.threads import beside, until

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

# Between the moment at which a lane may call and the one at which the server hears of it (seconds, a busy machine).
ON_THE_WAY = 0.8


def are_completed(*sessions: JudgeSession) -> bool:
    return all(reason(session)[0] == SessionStatus.COMPLETED for session in sessions)


def judged(session: JudgeSession) -> int:
    return JudgeComparison.objects.filter(session=session, status="completed").count()


def test_ten_lanes_of_two_sessions_share_the_four_places_of_their_provider(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, max_concurrency=4)
    server.judge.settings = SimulatedSettings(latency_ms=50)
    first, second = (make_session(threads=5, worker_count=5) for _ in range(2))
    with held(server) as release, at_work(first, second):
        until(lambda: server.most_at_once == 4, "four calls at once")
        release()
        until(lambda: 10 in (judged(first), judged(second)), "the end of one session")
        shares = sorted((judged(first), judged(second)))
        until(lambda: are_completed(first, second), "the end of both sessions")
    assert server.most_at_once == 4
    assert server.calls == 20
    assert shares[0] >= 3


def test_a_limit_that_is_lowered_while_lanes_judge_holds_from_their_next_call_on(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, max_concurrency=4)
    server.judge.settings = SimulatedSettings(latency_ms=50)
    first, second = (make_session(threads=6, worker_count=5) for _ in range(2))
    with held(server) as release, at_work(first, second):
        until(lambda: server.most_at_once == 4, "four calls at once")
        limit(model, max_concurrency=2)
        calls = server.calls
        release()
        until(lambda: server.calls >= calls + 4, "the end of the calls that were running")
        server.judge.most_at_once = 0
        until(lambda: are_completed(first, second), "the end of both sessions")
    assert server.most_at_once == 2
    assert server.calls == 24


def test_calls_of_all_lanes_keep_the_requests_per_minute(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, requests_per_minute=400)
    first, second = (make_session(threads=4, worker_count=3) for _ in range(2))
    with at_work(first, second):
        until(lambda: are_completed(first, second), "the end of both sessions")
    came = moments(server)
    assert len(came) == 16
    assert all(later - earlier >= 0.15 * gap - ON_THE_WAY for gap, earlier, later in _gaps(came))


def test_calls_of_all_lanes_keep_the_tokens_per_minute(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    a_second = 12_000
    limit(model, tokens_per_minute=60 * a_second)
    first, second = (make_session(threads=4, worker_count=3) for _ in range(2))
    with at_work(first, second):
        until(lambda: are_completed(first, second), "the end of both sessions")
    used = JudgeEvaluation.objects.order_by("comparison__started_at").values_list("prompt_tokens", "completion_tokens")
    tokens = [(prompt or 0) + (answer or 0) for prompt, answer in used]
    assert all(tokens)
    came = moments(server)
    # The last calls' tokens are used after the time that is looked at; each booking is a guess until its call ended.
    assert (sum(tokens) - 2 * max(tokens)) / a_second <= came[-1] - came[0] + ON_THE_WAY
    assert server.calls == 16


def test_what_was_booked_for_a_call_is_corrected_by_what_it_used(model: JudgeModel) -> None:
    limits = RateLimits(model.provider_id, tokens_per_minute=6_000)
    assert rates.reserve(limits, 1_000) == 0
    assert rates.reserve(limits, 500) == pytest.approx(10, abs=2)
    rates.settle(limits, 1_000, 200)
    assert rates.reserve(limits, 100) == pytest.approx(15 - 8, abs=2)
    rates.settle(limits, 500, 1_500)
    rates.settle(limits, 100, None)
    assert rates.reserve(limits, 100) == pytest.approx(8 + 10, abs=2)


def test_moments_are_not_booked_in_vain(model: JudgeModel) -> None:
    limits = RateLimits(model.provider_id, requests_per_minute=1)
    waits = [rates.reserve(limits, 1) for _ in range(8)]
    assert waits[:3] == pytest.approx([0, MINUTE, 2 * MINUTE], abs=2)
    assert min(waits[3:]) > LONGEST_WAIT
    assert waits[3:] == pytest.approx([3 * MINUTE] * 5, abs=2)


def test_a_limit_that_was_lifted_delays_nobody(model: JudgeModel) -> None:
    strict = RateLimits(model.provider_id, requests_per_minute=1, tokens_per_minute=1)
    assert rates.reserve(strict, 1_000) == 0
    assert rates.reserve(RateLimits(model.provider_id, tokens_per_minute=60_000), 1_000) > LONGEST_WAIT
    assert rates.reserve(RateLimits(model.provider_id, requests_per_minute=60), 1_000) == pytest.approx(60, abs=2)
    assert rates.reserve(RateLimits(model.provider_id), 1_000) == 0


def test_lanes_claim_nothing_that_could_not_be_called_for_minutes(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, tokens_per_minute=10)
    session = make_session(worker_count=5)
    run_lane(session.pk, 0)
    assert [run_lane(session.pk, lane) for lane in range(5)] == [False] * 5
    assert server.calls == judged(session) == 1


def test_a_lane_that_waits_for_the_rate_keeps_its_lease(
    make_session: MakeSession,
    server: SimulatedServer,
    model: JudgeModel,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.JUDGE_LEASE_SECONDS, settings.JUDGE_HEARTBEAT_SECONDS = 2, 0.3
    monkeypatch.setattr(lanes, "keeper", leases.LeaseKeeper())  # the process's own beats as often as it began to
    limit(model, requests_per_minute=2)
    session = make_session(worker_count=2)
    run_lane(session.pk, 0)

    def ends() -> list[datetime]:
        return list(JudgeComparison.objects.in_lanes().values_list("lease_expires_at", flat=True))

    def skip_the_rest() -> None:
        monkeypatch.setattr(leases.Lease, "wait", lambda lease, seconds: None)

    with beside(lambda: run_lane(session.pk, 1), then=skip_the_rest) as lane:
        until(ends, "the claim")
        first_end = ends()[0] + timedelta(seconds=2)
        until(lambda: ends()[0] >= first_end, "the lease to be extended beyond its first end")
        assert not lane.done()
        assert recovery.give_back_expired() == (0, 0)
    assert (outcomes(session), server.calls) == (["accepted"] * 2, 2)


def test_a_rest_that_begins_while_a_lane_waits_for_the_rate_is_kept(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel, gate: Gate
) -> None:
    limit(model, requests_per_minute=60)
    session = make_session(worker_count=2)
    run_lane(session.pk, 0)
    with beside(lambda: run_lane(session.pk, 1), then=gate.set) as lane:
        until(lambda: gate.waiting, "the lane to wait for the rate")
        blocked = time.monotonic()
        ProviderState.objects.update(blocked_until=Now() + timedelta(seconds=1.2), blocked_reason="rate_limited")
        gate.set()
        lane.result(30)
        assert time.monotonic() - blocked >= 1.2
    assert server.calls == 2


def test_a_session_judges_all_its_comparisons_at_a_slow_pace(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, requests_per_minute=300, tokens_per_minute=10_000_000, max_concurrency=2)
    session = make_session(threads=3, worker_count=5)
    assert judge_all(session).status == SessionStatus.COMPLETED
    assert server.calls == 6
    assert server.most_at_once <= 2
    assert all(row.attempt_count == 1 for row in JudgeComparison.objects.filter(session=session))


def test_places_are_free_again_however_a_comparison_ends(
    make_session: MakeSession, server: SimulatedServer, model: JudgeModel
) -> None:
    limit(model, max_concurrency=1)
    session = make_session(worker_count=2)
    server.script("ok", "refusal", {"kind": "status", "status": 429, "retry_after": "3600"})
    run_lane(session.pk, 0)
    run_lane(session.pk, 0)
    run_lane(session.pk, 0)
    ProviderState.objects.update(blocked_until=None)
    taken = queue.claim(session.pk, 1)
    assert taken is not None
    assert taken.provider_slot == 0
    assert queue.claim(session.pk, 0) is None
    assert not untouched(session)


def _gaps(came: list[float]) -> list[tuple[int, float, float]]:
    """All pairs of moments, with how many calls lie between them."""
    return [(j - i, came[i], came[j]) for i in range(len(came)) for j in range(i + 1, len(came))]
