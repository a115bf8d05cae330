"""What a killed process, another session or changed settings could leave behind: recovery or a claim mends it."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models.functions import Now

from judge.domain.errors import ErrorCode
from judge.domain.states import SessionStatus
from judge.models import JudgeComparison, JudgeModel, JudgeSession, LLMProvider, ProviderState, SessionJudge
from judge.selectors.progress import status_counts
from judge.services import breaker, provider_settings, queue, rates, recovery, stopping
from judge.services.lanes import keep_lane_busy, run_lane
from judge.services.provider_settings import change_provider
from judge.services.wakeups import RUN_LANE
from judge.simulated.server import SimulatedServer
from tests.conftest import MakeSession
from tests.factories import judged

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

Sent = list[tuple[str, tuple[int, ...]]]


def status(session: JudgeSession) -> tuple[str, str]:
    session.refresh_from_db()
    return session.status, session.status_reason


def only_judge(session: JudgeSession) -> SessionJudge:
    return session.session_judges.get()


def test_a_lane_that_ends_its_turn_lets_a_session_in_that_found_no_place(
    make_session: MakeSession, model: JudgeModel, sent_wakeups: Sent
) -> None:
    LLMProvider.objects.filter(pk=model.provider_id).update(max_concurrency=1)
    first, second = make_session(), make_session()
    sent_wakeups.clear()
    assert keep_lane_busy(first.pk, 0, seconds=0) is True
    assert (RUN_LANE, (second.pk, 0)) in sent_wakeups
    assert queue.claim(second.pk, 0) is not None


def test_a_session_that_judges_somewhere_is_not_woken_again(make_session: MakeSession, sent_wakeups: Sent) -> None:
    first, second = make_session(), make_session()
    assert queue.claim(second.pk, 0) is not None
    sent_wakeups.clear()
    keep_lane_busy(first.pk, 0, seconds=0)
    assert (RUN_LANE, (second.pk, 0)) not in sent_wakeups


def test_no_place_is_kept_for_a_session_that_has_nothing_left_at_the_provider(
    make_session: MakeSession, model: JudgeModel
) -> None:
    LLMProvider.objects.filter(pk=model.provider_id).update(max_concurrency=2)
    done = make_session(worker_count=5)
    JudgeComparison.objects.filter(session=done).update(status="failed", error_code="refused")
    busy = make_session(worker_count=2)
    assert [queue.claim(busy.pk, lane) is not None for lane in (0, 1)] == [True, True]


def test_judges_of_a_breaker_that_somebody_closed_and_died_are_freed(make_session: MakeSession) -> None:
    session = make_session()
    stopping.stop_judge(only_judge(session).pk, ErrorCode.CONNECTION_FAILED)
    assert status(session) == (SessionStatus.PAUSED, ErrorCode.CONNECTION_FAILED)
    recovery.recover()  # the provider has no open breaker
    assert status(session) == (SessionStatus.QUEUED, "")
    assert only_judge(session).stop_reason == ""


def test_judges_behind_an_open_breaker_stay_stopped(make_session: MakeSession, model: JudgeModel) -> None:
    session = make_session()
    ProviderState.objects.create(
        provider=model.provider, breaker_reason=ErrorCode.CONNECTION_FAILED, breaker_opened_at=Now()
    )
    stopping.stop_judge(only_judge(session).pk, ErrorCode.CONNECTION_FAILED)
    recovery.recover()
    assert status(session) == (SessionStatus.PAUSED, ErrorCode.CONNECTION_FAILED)


def test_a_panel_goes_on_with_the_judge_that_is_freed_whatever_the_other_one_lacks(
    make_session: MakeSession, model: JudgeModel, server: SimulatedServer
) -> None:
    elsewhere = LLMProvider.objects.create(name="Example elsewhere", base_url=server.base_url, is_simulated=True)
    other = JudgeModel.objects.create(provider=elsewhere, model_name="example-other")
    session = make_session(judge_model_ids=(model.pk, other.pk))
    silent, refused = session.session_judges.order_by("position")
    stopping.stop_judge(silent.pk, ErrorCode.CONNECTION_FAILED)
    stopping.stop_judge(refused.pk, ErrorCode.UNAUTHORIZED)
    assert status(session) == (SessionStatus.PAUSED, ErrorCode.UNAUTHORIZED)
    breaker.close(model.provider_id)
    assert status(session) == (SessionStatus.QUEUED, "")
    refused.refresh_from_db()
    assert refused.stop_reason == ErrorCode.UNAUTHORIZED


def test_a_paused_session_whose_last_verdict_was_stored_by_a_dying_worker_ends(make_session: MakeSession) -> None:
    session = make_session(threads=1, position_swap=False)
    judged(session.comparisons.get())
    JudgeSession.objects.filter(pk=session.pk).update(status=SessionStatus.PAUSED)
    recovery.recover()
    assert status(session) == (SessionStatus.COMPLETED, "")


def test_a_key_that_this_process_cannot_read_stops_the_judge_and_fails_nothing(
    make_session: MakeSession, server: SimulatedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(provider: LLMProvider) -> str:
        raise ImproperlyConfigured("no key decrypts it")

    session = make_session()
    monkeypatch.setattr(LLMProvider, "api_key", property(unreadable))
    run_lane(session.pk, 0)
    assert status(session) == (SessionStatus.PAUSED, ErrorCode.KEY_UNREADABLE)
    assert status_counts(session)["pending"] == session.total_comparisons
    assert server.calls == 0


def test_a_mended_limit_holds_at_once(make_session: MakeSession, model: JudgeModel) -> None:
    session, hour = make_session(), Now() + timedelta(hours=1)
    LLMProvider.objects.filter(pk=model.provider_id).update(tokens_per_minute=10)
    ProviderState.objects.create(provider=model.provider, next_token_at=hour)
    assert queue.claim(session.pk, 0) is None
    change_provider(model.provider_id, {"tokens_per_minute": 1_000_000})
    assert queue.claim(session.pk, 0) is not None


def test_an_absurd_report_of_tokens_does_not_leave_the_provider_alone_for_hours(model: JudgeModel) -> None:
    limits = rates.RateLimits(model.provider_id, tokens_per_minute=100_000)
    rates.reserve(limits, 2_000)
    rates.settle(limits, 2_000, 20_000_000)
    state = ProviderState.objects.annotate(now=Now()).get(pk=model.provider_id)
    assert state.next_token_at is not None
    assert (state.next_token_at - state.now).total_seconds() < 60


def test_an_approval_that_staff_withdraw_meanwhile_stays_withdrawn(
    model: JudgeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    LLMProvider.objects.filter(pk=model.provider_id).update(may_receive_personal_data=True)
    check = provider_settings._check_provider

    def withdrawn(*arguments: Any) -> None:
        check(*arguments)
        LLMProvider.objects.filter(pk=model.provider_id).update(may_receive_personal_data=False)

    monkeypatch.setattr(provider_settings, "_check_provider", withdrawn)
    change_provider(model.provider_id, {"name": "Another name"})
    assert LLMProvider.objects.get(pk=model.provider_id).may_receive_personal_data is False


def test_a_lease_that_was_extended_just_now_does_not_poison(make_session: MakeSession) -> None:
    session = make_session()
    claimed = queue.claim(session.pk, 0)
    assert claimed is not None
    JudgeComparison.objects.filter(pk=claimed.comparison_id).update(lost_leases=2)
    with transaction.atomic():
        assert recovery._poison(claimed) is False
    assert queue.held([claimed.token]) == {claimed.token}
