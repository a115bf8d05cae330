"""Everything that can happen to a queue, in any order, against a model that says what must come of it.

Hypothesis plays claims, doubled wake-ups, heartbeats, lost leases, late answers, crashes, people's clicks and the moods
of providers on a small session with two judges; after every step the database equals the model. When it finds a fault
it prints the play that shows it.
"""

import logging
import os
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models.functions import Now
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from judge.domain.errors import ErrorCode
from judge.domain.states import ACTION_TARGETS, ComparisonStatus, SessionStatus
from judge.models import JudgeComparison
from judge.services import control, queue, recovery, stopping
from judge.services.errors import ActionRefused
from judge.services.results import refresh_results
from judge.services.wakeups import RUN_LANE
from tests.factories import JudgeModelFactory, LLMProviderFactory
from tests.pillars.factories import EmailThreadFactory, PillarFactory
from tests.queue.answering import Holder
from tests.queue.invariants import assert_equals_its_rebuild
from tests.queue.queue_play import ENDED, WORKERS, Play, World

pytestmark = [pytest.mark.queue, pytest.mark.django_db(transaction=True, serialized_rollback=True)]

# Finding the shortest play of a fault takes minutes; without it the play is printed as it was found.
SHRINK = bool(os.environ.get("LLARS_TEST_SHRINK"))
# The rules are the same on either database; on SQLite it is its statements that are tried.
PLAYS = 30 if connection.vendor == "postgresql" else 10
LANES = st.integers(0, WORKERS)  # the last one is a lane that the session does not have
PICK = st.integers(0, 9)
BREAKER = ErrorCode.CONNECTION_FAILED
PROBLEMS = st.sampled_from([ErrorCode.UNAUTHORIZED, ErrorCode.RATE_LIMITED, BREAKER])


@pytest.fixture
def world(transactional_db: None, sent_wakeups: list[tuple[str, tuple[int, ...]]]) -> World:
    for number in (1, 2):
        EmailThreadFactory.create_batch(2, pillar=PillarFactory(number=number))
    wide, narrow = LLMProviderFactory(max_concurrency=2), LLMProviderFactory(max_concurrency=1)
    models = tuple(JudgeModelFactory(provider=provider) for provider in (wide, wide, narrow))
    owner = User.objects.create_user("example-owner", password="example-password")
    return World(owner, models, sent_wakeups)


class QueueMachine(Play):
    """What may happen."""

    seen = 0  # verdicts that the results have

    @rule(lane=LANES)
    def wake(self, lane: int) -> None:
        """A wake-up arrives: the first, a doubled one, or one for a lane that does not exist."""
        expected = self.model.next_for(lane)
        claimed = queue.claim(self.pk, lane)
        assert (claimed and claimed.comparison_id) == expected
        if claimed is not None:
            self.model.claim(claimed.comparison_id, lane, claimed.token)
            self.holders.append(Holder.of(claimed))

    @rule(ends=st.lists(st.sampled_from(["A", "B", "TIE", "failed", "crashed"]), min_size=WORKERS, max_size=WORKERS))
    def judge_a_round(self, ends: list[str]) -> None:
        """Each lane takes what it gets and comes to some end with it: so that plays reach the end of a session."""
        for lane in range(WORKERS):
            self.checked(self.wake, lane)
        for end in ends[: len(self.holders)]:
            if end == "failed":
                self.checked(self.give_up, 0)
            elif end == "crashed":
                self.crash(0)
            else:
                self.checked(self.answer, 0, end)

    @rule()
    def beat(self) -> None:
        tokens = [holder.claimed.token for holder in (*self.holders, *self.late)]
        alive = {token for token in tokens if self.model.holder_of(token) is not None}
        assert queue.extend(tokens) == alive
        self.model.mark_expired(alive, is_expired=False)

    @precondition(lambda self: self.holders)
    @rule(pick=PICK, winner=st.sampled_from(["A", "B", "TIE"]))
    def answer(self, pick: int, winner: str) -> None:
        self.complete(self.leave(pick), winner)

    @precondition(lambda self: self.late)
    @rule(pick=PICK, winner=st.sampled_from(["A", "B", "TIE"]))
    def answer_late(self, pick: int, winner: str) -> None:
        """From a worker that was frozen, replaced, or has answered before; it may hold its claim still."""
        self.complete(self.late[pick % len(self.late)], winner)

    @precondition(lambda self: self.holders or self.late)
    @rule(pick=PICK)
    def give_up(self, pick: int) -> None:
        holder = self.anyone(pick)
        token = holder.claimed.token
        assert queue.fail(holder.claimed, ErrorCode.REFUSED) is self.model.finish(
            token, ComparisonStatus.FAILED, "refused"
        )

    @precondition(lambda self: self.holders or self.late)
    @rule(pick=PICK)
    def end_worker(self, pick: int) -> None:
        """SIGTERM: the comparison is given back."""
        holder = self.anyone(pick)
        assert queue.release(holder.claimed) is self.model.release(holder.claimed.token)

    @precondition(lambda self: self.holders)
    @rule(pick=PICK)
    def crash(self, pick: int) -> None:
        """SIGKILL or SIGSTOP: nobody is told."""
        self.leave(pick)

    @precondition(lambda self: self.model.running())
    @rule(pick=PICK)
    def let_a_lease_run_out(self, pick: int) -> None:
        running = self.model.running()
        token = running[pick % len(running)].token
        assert token is not None
        JudgeComparison.objects.filter(claim_token=token).update(lease_expires_at=Now() - timedelta(seconds=1))
        self.model.mark_expired({token}, is_expired=True)

    @precondition(lambda self: self.model.running())
    @rule()
    def lose_every_lease(self) -> None:
        for pick in range(len(self.model.running())):
            self.let_a_lease_run_out(pick)
        self.checked(self.recover)
        for lane in range(WORKERS):
            self.checked(self.wake, lane)

    @rule()
    def recover(self) -> None:
        expected = self.model.recover(BREAKER)
        self.world.sent.clear()
        recovered = recovery.recover()
        assert (recovered.given_back, recovered.poisoned) == expected
        woken = {ids[1] for task, ids in self.world.sent if task == RUN_LANE}
        busy = {row.lane for row in self.model.running()}
        assert woken <= set(range(WORKERS)) - busy
        assert woken or not (self.model.claimable() and len(busy) < WORKERS), "work waits and no lane was woken"

    @precondition(lambda self: self.model.count(ComparisonStatus.COMPLETED) != self.seen)
    @rule()
    def refresh(self) -> None:
        refresh_results(self.pk)
        assert_equals_its_rebuild(self.pk)
        self.seen = self.model.count(ComparisonStatus.COMPLETED)

    @rule(action=st.sampled_from(["start", "pause", "pause", "resume", "resume", "retry_failed", "abort"]))
    def click(self, action: str) -> None:
        if action == "abort" and not self._has_lived():
            return
        is_allowed = self.model.may(action)
        if is_allowed:
            self.model.try_providers_again(action)
        elif action == "retry_failed" and any(place.is_broken for place in self.model.places.values()):
            return  # whether a refused click tries the providers again is left open
        self.world.sent.clear()
        try:
            getattr(control, action)(self.pk)
        except ActionRefused:
            assert not is_allowed
            return
        assert is_allowed
        self.model.act(action)
        woken = [ids for task, ids in self.world.sent if task == RUN_LANE]
        expected = WORKERS if ACTION_TARGETS[action] == SessionStatus.QUEUED else 0
        assert woken == [(self.pk, lane) for lane in range(expected)]

    def _has_lived(self) -> bool:
        """An abort ends the play: let there be one before it."""
        return self.model.count(ComparisonStatus.COMPLETED) >= 2

    @precondition(lambda self: self.holders)
    @rule(pick=PICK, problem=PROBLEMS)
    def find_the_provider_unusable(self, pick: int, problem: ErrorCode) -> None:
        claimed = self.leave(pick).claimed
        stopping.stop_judge(claimed.judge_id, problem)
        self.model.stop_judge(claimed.judge_id, problem)
        assert queue.release(claimed) is self.model.release(claimed.token)

    @rule(pick=PICK, rests=st.booleans(), adapted=st.sampled_from([None, 1, 2]))
    def change_a_providers_mood(self, pick: int, rests: bool, adapted: int | None) -> None:
        """It rests after a 429, or takes fewer calls at once for a while."""
        providers = sorted(self.model.places)
        provider = providers[pick % len(providers)]
        self.model.places[provider].rests, self.model.places[provider].adapted = rests, adapted
        until = Now() + timedelta(hours=1 if rests else -1)
        self.note(provider, blocked_until=until, concurrency=adapted)

    @rule(pick=PICK)
    def lose_providers(self, pick: int) -> None:
        """The breaker of one provider opens, or of all; the next recovery stops the judges behind it."""
        providers = sorted(self.model.places)
        for provider in providers if pick > 4 else providers[:1]:
            self.model.places[provider].is_broken = True
            self.note(provider, breaker_reason=BREAKER, breaker_opened_at=Now())
        self.recover()

    def judge_everything(self) -> None:
        for pick in range(len(self.model.places)):
            self.change_a_providers_mood(pick, rests=False, adapted=None)
        for _ in range(40):
            for action in ("start", "resume"):
                if self.model.may(action) and self.model.status != SessionStatus.FAILED:
                    self.checked(self.click, action)
            for pick in range(len(self.model.running())):
                self.let_a_lease_run_out(pick)
            if self.model.running() or not self.model.claimable():
                self.checked(self.recover)
            self.checked(self.wake, 0)
            if self.holders:
                self.checked(self.answer, -1, "A")
            if self.model.status in ENDED:
                break
        assert self.model.status in ENDED, "a comparison cannot be reached"
        assert self.model.count(ComparisonStatus.COMPLETED) + self.model.count(ComparisonStatus.FAILED) == 8


def test_the_queue_does_what_its_model_says_whatever_happens_in_whatever_order(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)  # refusals are logged as they should be, by the thousand
    run_state_machine_as_test(
        lambda: QueueMachine(world),
        settings=settings(
            max_examples=PLAYS,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            print_blob=True,
            database=None,
            phases=[Phase.generate, *([Phase.shrink] if SHRINK else [])],
            suppress_health_check=list(HealthCheck),
        ),
    )
