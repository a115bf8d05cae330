"""Testing a provider: asked for by a person, run by a worker, polled by a page, kept on the model."""

import logging
import time
from datetime import timedelta

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.db.models.functions import Now

from judge.domain.findings import ProviderFindings
from judge.events.silence import Silence
from judge.models import JudgeModel, LLMProvider, ProviderCheck
from judge.selectors.provider_checks import latest_check
from judge.services import leases, wakeups
from judge.services.provider_check import (
    INTERRUPTED_AFTER,
    MOST_KEPT,
    NO_WORKER_AFTER,
    check_provider,
    poll_check,
    run_check,
)
from judge.services.providers import simulated_model
from judge.simulated.server import SimulatedServer
from tests.provider_check.conftest import Ask, Sent

pytestmark = [pytest.mark.queue, pytest.mark.django_db]

KEY = "sk-test-5up3rs3cr3t"
NAME = "simulated-judge"


def checked(ask, tested: JudgeModel, name: str = NAME) -> ProviderCheck:
    check = ask(tested.provider_id, name)
    run_check(check.pk)
    tested.refresh_from_db()
    return poll_check(check.pk)


def made_older(check: ProviderCheck, column: str, age: timedelta) -> None:
    ProviderCheck.objects.filter(pk=check.pk).update(**{column: Now() - age})


def test_a_request_is_a_row_and_a_message_with_its_id_alone(
    tested: JudgeModel, ask: Ask, person: User, sent: Sent
) -> None:
    check = ask(tested.provider_id, NAME, person.pk)
    assert sent == [(wakeups.CHECK_PROVIDER, (check.pk,))]
    stored = poll_check(check.pk)
    assert (stored.state, stored.findings, stored.model, stored.requested_by) == ("running", {}, tested, person)
    assert stored.started_at is stored.checked_at is None


def test_findings_are_kept_with_the_test_and_on_the_model(
    tested: JudgeModel, ask: Ask, server: SimulatedServer, sent: Sent
) -> None:
    server.play(formats=frozenset({"json_object"}), refuses=frozenset({"max_tokens"}))
    server.script(rules=["reasoning_field"])
    check = checked(ask, tested)
    found = ProviderFindings.from_json(check.findings)
    assert (check.state, check.reason, check.model) == ("done", "", tested)
    assert check.requested_at <= check.started_at <= check.checked_at
    assert (found.output_mode, found.refused_parameters) == ("json_object", ("max_tokens",))
    assert (tested.detected_output, tested.output_mode) == ("json_object", "json_object")
    assert (tested.streams_reasoning, tested.refused_parameters) == (True, ["max_tokens"])
    assert abs(tested.checked_at - check.checked_at) < timedelta(seconds=1)
    assert latest_check(tested.provider_id, NAME) == check


def test_a_mode_set_by_hand_stays(tested: JudgeModel, ask: Ask, server: SimulatedServer, sent: Sent) -> None:
    JudgeModel.objects.update(structured_output="json_object")
    checked(ask, tested)
    assert (tested.structured_output, tested.detected_output) == ("json_object", "json_schema")
    assert tested.output_mode == "json_object"


def test_a_failed_test_leaves_what_was_known_of_the_model(
    tested: JudgeModel, ask: Ask, server: SimulatedServer, sent: Sent
) -> None:
    server.play(formats=frozenset())
    checked(ask, tested)
    server.play(key="another")
    assert checked(ask, tested).findings["problem"] == "unauthorized"
    assert tested.detected_output == "text"


def test_a_model_without_a_row_is_tested_all_the_same(tested: JudgeModel, ask: Ask, sent: Sent) -> None:
    check = checked(ask, tested, "some-other-model")
    assert (check.state, check.model) == ("done", None)
    assert check.findings["model_found"] == "not_listed"
    assert (tested.detected_output, tested.checked_at) == ("", None)


def test_without_a_name_the_first_active_model_is_asked_with_its_parameters(
    tested: JudgeModel, server: SimulatedServer
) -> None:
    JudgeModel.objects.update(is_active=False)
    JudgeModel.objects.create(provider=tested.provider, model_name="b", parameters={"temperature": 0})
    JudgeModel.objects.create(provider=tested.provider, model_name="a")
    found = check_provider(tested.provider)
    assert found.model_name == "b"
    assert server.requests[0]["temperature"] == 0


def test_nothing_is_written_by_a_test_that_nobody_asked_to_keep(tested: JudgeModel) -> None:
    assert check_provider(tested.provider, NAME).output_mode == "json_schema"
    tested.refresh_from_db()
    assert (tested.detected_output, ProviderCheck.objects.count()) == ("", 0)


class TestTheMessage:
    def test_delivered_twice_it_tests_once(
        self, tested: JudgeModel, ask: Ask, server: SimulatedServer, sent: Sent
    ) -> None:
        check = checked(ask, tested)
        run_check(check.pk)
        assert server.calls == 1

    def test_for_a_test_that_is_gone_it_does_nothing(self, tested: JudgeModel, server: SimulatedServer) -> None:
        run_check(987_654_321)
        assert server.calls == 0

    def test_a_second_click_gets_the_running_test(self, tested: JudgeModel, ask: Ask, sent: Sent) -> None:
        first = ask(tested.provider_id, NAME)
        assert ask(tested.provider_id, NAME) == first
        assert ask(tested.provider_id, "another") != first
        assert len(sent) == 2

    def test_after_the_end_a_click_starts_a_new_test(self, tested: JudgeModel, ask: Ask, sent: Sent) -> None:
        first = checked(ask, tested)
        assert ask(tested.provider_id, NAME) != first

    def test_that_cannot_be_sent_fails_the_test_at_once(
        self, tested: JudgeModel, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Silence, "until", 0.0)
        monkeypatch.setattr(current_app.conf, "broker_write_url", "redis://127.0.0.1:1/0")
        monkeypatch.setattr(current_app, "_pool", None)
        current_app.amqp.__dict__.pop("_producer_pool", None)
        began = time.monotonic()
        check = ask(tested.provider_id, NAME)
        assert time.monotonic() - began < 2
        current_app.amqp.__dict__.pop("_producer_pool", None)
        assert (check.state, check.reason) == ("failed", "not_sent")
        assert (poll_check(check.pk).state, poll_check(check.pk).reason) == ("failed", "not_sent")


class TestAWorker:
    def test_that_never_comes_is_missed_after_twenty_seconds(self, tested: JudgeModel, ask: Ask, sent: Sent) -> None:
        check = ask(tested.provider_id, NAME)
        made_older(check, "requested_at", NO_WORKER_AFTER - timedelta(seconds=5))
        assert poll_check(check.pk).state == "running"
        made_older(check, "requested_at", NO_WORKER_AFTER + timedelta(seconds=1))
        assert (poll_check(check.pk).state, poll_check(check.pk).reason) == ("failed", "no_worker")
        assert ask(tested.provider_id, NAME) != check

    def test_that_comes_late_still_brings_the_findings(self, tested: JudgeModel, ask: Ask, sent: Sent) -> None:
        check = ask(tested.provider_id, NAME)
        made_older(check, "requested_at", NO_WORKER_AFTER + timedelta(seconds=1))
        assert poll_check(check.pk).state == "failed"
        run_check(check.pk)
        assert (poll_check(check.pk).state, poll_check(check.pk).reason) == ("done", "")

    def test_that_was_killed_is_missed_in_the_end(self, tested: JudgeModel, ask: Ask, sent: Sent) -> None:
        check = ask(tested.provider_id, NAME)
        made_older(check, "started_at", INTERRUPTED_AFTER - timedelta(seconds=5))
        assert poll_check(check.pk).state == "running"
        made_older(check, "started_at", INTERRUPTED_AFTER + timedelta(seconds=1))
        assert (poll_check(check.pk).state, poll_check(check.pk).reason) == ("failed", "interrupted")

    def test_that_is_asked_to_end_says_so(
        self, tested: JudgeModel, ask: Ask, server: SimulatedServer, sent: Sent
    ) -> None:
        leases.STOPPING.set()
        try:
            check = checked(ask, tested)
        finally:
            leases.STOPPING.clear()
        assert (check.state, check.reason, server.calls) == ("failed", "interrupted", 0)

    def test_that_cannot_read_the_key_says_so(self, tested: JudgeModel, ask: Ask, sent: Sent) -> None:
        LLMProvider.objects.update(api_key_encrypted="not what was encrypted here")
        check = checked(ask, tested)
        assert (check.state, check.reason) == ("failed", "key_unreadable")


def test_the_key_is_in_no_row_no_message_and_no_log(
    tested: JudgeModel, ask: Ask, server: SimulatedServer, sent: Sent, caplog: pytest.LogCaptureFixture
) -> None:
    provider = tested.provider
    provider.api_key = KEY
    provider.save()
    server.script({"kind": "status", "status": 400, "message": f"key {KEY}", "code": KEY, "param": KEY})
    with caplog.at_level(logging.DEBUG):
        check = checked(ask, tested)
    assert server.requests[0]["_headers"].count("authorization") == 1
    assert check.state == "done"
    assert KEY not in f"{check.findings} {sent} {caplog.text}"


def test_of_many_tests_the_newest_are_kept(tested: JudgeModel, ask: Ask, sent: Sent) -> None:
    other = ask(simulated_model(tested.provider.base_url, name="Another").provider_id)
    newest = [ask(tested.provider_id, f"m{number}").pk for number in range(MOST_KEPT + 5)][-MOST_KEPT:]
    kept = ProviderCheck.objects.filter(provider=tested.provider).values_list("pk", flat=True)
    assert sorted(kept) == newest
    assert poll_check(other.pk) == other
