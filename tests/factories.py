"""People, providers and sessions for tests. Names are obvious examples; the key opens nothing."""

from datetime import timedelta
from typing import Any

import factory
from django.contrib.auth.models import Group, User
from django.utils import timezone
from factory.django import DjangoModelFactory

from judge.models import (
    CriterionScore,
    JudgeAttempt,
    JudgeComparison,
    JudgeEvaluation,
    JudgeModel,
    JudgeSession,
    LLMProvider,
    SessionShare,
)
from judge.services.planning.configuration import SessionConfig
from judge.services.sessions import create_session
from tests.pillars.factories import EmailThreadFactory, PillarFactory

PASSWORD = "example-password-123"
KEY = "example-key-that-opens-nothing"


class UserFactory(DjangoModelFactory):
    """A researcher with all of the group's permissions; ``is_staff=True`` for staff, ``groups=()`` for nobody."""

    class Meta:
        model = User
        skip_postgeneration_save = True

    username = factory.Sequence(lambda n: f"example-person-{n}")
    email = factory.LazyAttribute(lambda user: f"{user.username}@example.org")
    password = factory.django.Password(PASSWORD)

    @factory.post_generation
    def groups(self: User, create: bool, extracted: Any, **kwargs: Any) -> None:  # type: ignore[misc]
        """The researchers' group unless told otherwise."""
        names = ("Researchers",) if extracted is None else extracted
        self.groups.set(Group.objects.filter(name__in=names))


class StaffFactory(UserFactory):
    """Staff who may do everything in the admin."""

    is_staff = True
    is_superuser = True


class LLMProviderFactory(DjangoModelFactory):
    """A provider that nothing listens behind, with a key."""

    class Meta:
        model = LLMProvider

    name = factory.Sequence(lambda n: f"Example provider {n}")
    base_url = "http://127.0.0.1:9/v1"
    is_simulated = True
    api_key = KEY


class JudgeModelFactory(DjangoModelFactory):
    """A judge model offered to everybody."""

    class Meta:
        model = JudgeModel

    provider = factory.SubFactory(LLMProviderFactory)
    model_name = factory.Sequence(lambda n: f"example-model-{n}")


class SessionFactory(factory.Factory):
    """A planned session, made by the service: two pillars of ``threads`` threads each (3), judged by ``model``.

    Everything that SessionConfig knows can be given; ``status`` is set afterwards.
    """

    class Meta:
        model = JudgeSession

    owner = factory.SubFactory(UserFactory)
    model = factory.SubFactory(JudgeModelFactory)
    name = factory.Sequence(lambda n: f"Example session {n}")
    pillar_ids = (1, 2)
    threads = 3
    samples_per_pillar = 3
    seed = 7
    status = "created"

    @classmethod
    def _create(cls, model_class: type[JudgeSession], *args: Any, **kwargs: Any) -> JudgeSession:
        owner, model, threads = kwargs.pop("owner"), kwargs.pop("model"), kwargs.pop("threads")
        status = kwargs.pop("status")
        for number in kwargs["pillar_ids"]:
            pillar = PillarFactory(number=number)
            for _ in range(threads - pillar.threads.count()):
                EmailThreadFactory(pillar=pillar)
        session = create_session(owner, SessionConfig(judge_model_ids=(model.pk,), **kwargs))
        if status != "created":
            JudgeSession.objects.filter(pk=session.pk).update(status=status, started_at=timezone.now())
            session.refresh_from_db()
        return session


def share(session: JudgeSession, *, can_edit: bool = False, user: User | None = None) -> User:
    """Show the session to another researcher."""
    person = user or UserFactory()
    SessionShare.objects.create(session=session, user=person, can_edit=can_edit)
    return person


def judged(comparison: JudgeComparison, winner: str = "A", confidence: float = 0.8) -> JudgeComparison:
    """Give a comparison the verdict that a worker would have stored, with scores and one call."""
    evaluation = JudgeEvaluation.objects.create(
        comparison=comparison,
        winner=winner,
        confidence=confidence,
        reasoning="Example reasoning.",
        chain_of_thought={"step_1": "Example step."},
        verdict={"winner": winner},
        raw_response='{"winner": "' + winner + '"}',
        prompt_hash="0" * 64,
        latency_ms=1200,
    )
    criteria = comparison.session.rubric.criteria.all()
    CriterionScore.objects.bulk_create(
        CriterionScore(evaluation=evaluation, criterion=criterion, score_a=4, score_b=3) for criterion in criteria
    )
    JudgeAttempt.objects.create(
        comparison=comparison,
        claim_token="00000000-0000-0000-0000-000000000001",
        number=1,
        outcome="accepted",
        prompt_hash="0" * 64,
    )
    now = timezone.now()
    JudgeComparison.objects.filter(pk=comparison.pk).update(
        status="completed", worker_id=0, started_at=now, completed_at=now, attempt_count=1
    )
    session = comparison.session
    session.completed_comparisons += 1
    session.save(update_fields=["completed_comparisons"])
    comparison.refresh_from_db()
    return comparison


def running(comparison: JudgeComparison, worker_id: int = 0) -> JudgeComparison:
    """Put a comparison into a lane, as a claim would."""
    JudgeComparison.objects.filter(pk=comparison.pk).update(
        status="running",
        worker_id=worker_id,
        claim_token=f"00000000-0000-0000-0000-{comparison.pk:012d}",
        provider=comparison.judge.model.provider,
        provider_slot=comparison.pk,
        lease_expires_at=timezone.now() + timedelta(seconds=30),
        started_at=timezone.now(),
        attempt_count=1,
    )
    comparison.refresh_from_db()
    return comparison
