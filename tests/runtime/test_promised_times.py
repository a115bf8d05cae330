"""The times that the product promises, as it runs without any setting: other tests shorten them."""

from celery.schedules import schedule
from django.conf import settings

from judge.domain.limits import LONGEST_WAIT, TROUBLED_IN_A_ROW, UNREACHABLE_IN_A_ROW
from judge.llm.budget import Limits
from judge.services import deliberation, leases, wakeups
from judge.services.recovery import POISON_AFTER
from llars.env import Environment


def default(name: str) -> float:
    return float(Environment.model_fields[name].default)


def test_a_call_is_cut_after_the_promised_times_and_sizes() -> None:
    assert Limits(first_token=60, silence=30, total=600, max_bytes=1_000_000) == deliberation.LIMITS


def test_a_killed_workers_comparison_is_claimed_again_within_45_seconds() -> None:
    assert (default("lease_seconds"), default("heartbeat_seconds")) == (30, 10)
    assert default("lease_seconds") + default("recovery_seconds") < 45


def test_a_lost_wakeup_is_made_good_within_a_minute() -> None:
    assert default("recovery_seconds") <= 10
    assert schedule(default("recovery_seconds")).seconds < 60


def test_clocks_an_hour_apart_throw_no_wakeup_away() -> None:
    assert wakeups.EXPIRES_SECONDS > 3600 + 600
    assert settings.CELERY_BEAT_SCHEDULE["recover"]["options"]["expires"] > 3600 + 600


def test_a_lane_waits_two_minutes_for_its_provider_at_most() -> None:
    assert LONGEST_WAIT == 120


def test_a_breaker_opens_after_five_calls_that_reached_nobody_and_is_probed_every_half_minute() -> None:
    assert (UNREACHABLE_IN_A_ROW, TROUBLED_IN_A_ROW) == (5, 20)
    assert default("probe_seconds") == 30


def test_a_comparison_takes_three_workers_down_at_most() -> None:
    assert POISON_AFTER == 3


def test_a_lane_learns_within_five_seconds_that_its_session_is_gone() -> None:
    assert leases.LOOK_EVERY <= 2.5
