"""A play of the queue: one session from its plan to its deletion, with the model that it must equal."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant

from judge.domain.states import ComparisonStatus, SessionStatus
from judge.models import JudgeComparison, JudgeModel, JudgeSession, ProviderState, SessionJudge
from judge.services import control
from judge.services.planning.configuration import SessionConfig
from judge.services.results import refresh_results
from judge.services.sessions import create_session
from tests.queue.answering import Holder
from tests.queue.invariants import Watch, assert_calls_are_on_record, assert_equals_its_rebuild
from tests.queue.queue_model import Place, QueueModel, Row

WORKERS = 3
ENDED = (SessionStatus.COMPLETED, SessionStatus.FAILED)


@dataclass(frozen=True)
class World:
    """What all plays share. Two models at one provider, a third at another; how many calls each takes at once."""

    owner: User
    models: tuple[JudgeModel, JudgeModel, JudgeModel]
    sent: list[tuple[str, tuple[int, ...]]]


class Play(RuleBasedStateMachine):
    """One session of eight comparisons. The rules, which say what may happen to it, are a subclass."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.holders: list[Holder] = []  # lanes at work
        self.late: list[Holder] = []  # whoever may still come back with an answer: frozen, replaced, done

    @initialize(share_a_provider=st.booleans(), is_started=st.sampled_from([True, True, True, False]))
    def plan(self, share_a_provider: bool, is_started: bool) -> None:
        judges = self.world.models[:2] if share_a_provider else self.world.models[1:]
        config = SessionConfig(
            name="Example session",
            pillar_ids=(1, 2),
            judge_model_ids=tuple(judge.pk for judge in judges),
            samples_per_pillar=2,
            worker_count=WORKERS,
            seed=7,
        )
        self.pk = create_session(self.world.owner, config).pk
        rows = JudgeComparison.objects.filter(session=self.pk).values_list("pk", "queue_position", "judge_id")
        self.model = QueueModel(
            rows={pk: Row(position, judge) for pk, position, judge in rows},
            judges=dict(SessionJudge.objects.filter(session=self.pk).values_list("pk", "model__provider")),
            places={judge.provider_id: Place(judge.provider.max_concurrency) for judge in judges},
            workers=WORKERS,
        )
        assert len(self.model.rows) == 8
        self.watch = Watch(self.pk)
        if is_started:
            control.start(self.pk)
            self.model.act("start")

    @invariant()
    def the_database_equals_the_model(self) -> None:
        if hasattr(self, "watch"):
            self.watch.check(self.model)

    def teardown(self) -> None:
        """Whatever was played: every comparison can still be judged, and the results are those of the verdicts."""
        if not hasattr(self, "watch"):
            return
        try:
            if self.model.status != SessionStatus.ABORTED:
                self.judge_everything()
            refresh_results(self.pk)
            assert_equals_its_rebuild(self.pk)
            assert_calls_are_on_record(self.pk)
        finally:
            JudgeSession.objects.filter(pk=self.pk).delete()
            ProviderState.objects.all().delete()

    def judge_everything(self) -> None:
        """Judge what is left, with the means that people and lanes have."""
        raise NotImplementedError

    def checked(self, step: Callable[..., None], *arguments: Any) -> None:
        """Take one step of the last part, which is watched as closely as those before."""
        step(*arguments)
        self.watch.check(self.model)

    def note(self, provider_id: int, **values: Any) -> None:
        """Write down what was found out about a provider."""
        ProviderState.objects.update_or_create(provider_id=provider_id, defaults=values)

    def complete(self, holder: Holder, winner: str) -> None:
        """A lane stores its verdict, or learns that it came too late."""
        token = holder.claimed.token
        is_held = self.model.holder_of(token) is not None
        assert holder.complete(winner) is is_held
        self.model.finish(token, ComparisonStatus.COMPLETED)

    def leave(self, pick: int) -> Holder:
        """A lane ends what it does; its answer may still come, or come again."""
        holder = self.holders.pop(pick % len(self.holders))
        self.late.append(holder)
        return holder

    def anyone(self, pick: int) -> Holder:
        """A lane, or whoever may come back last."""
        return self.leave(pick) if pick < 7 and self.holders else (self.late or self.holders)[-1]
