"""How busy providers are, and whether they may be called at all: their places, their rests, their breakers."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from judge.domain.states import ComparisonStatus
from judge.models import JudgeComparison, LLMProvider
from judge.models.session import LIVE_STATUSES

SHOWN = 50


@dataclass(frozen=True)
class ProviderLoad:
    """One provider at one moment of the database's clock.

    ``running`` comparisons of all sessions hold a place of ``limit``, which is ``allowed`` unless the provider was too
    busy lately. ``rests_until`` is None unless it lies ahead. An open breaker has a reason and a moment since when.
    """

    provider_id: int
    name: str
    running: int
    limit: int
    allowed: int
    rests_until: datetime | None
    rest_reason: str
    breaker_reason: str
    breaker_opened_at: datetime | None

    @property
    def is_open(self) -> bool:
        """Whether the breaker keeps calls away until a probe succeeds."""
        return bool(self.breaker_reason)

    @property
    def is_resting(self) -> bool:
        """Whether the provider asked for a rest that is not over."""
        return self.rests_until is not None

    @property
    def is_full(self) -> bool:
        """Whether every place is taken."""
        return self.running >= self.limit

    @property
    def is_slowed(self) -> bool:
        """Whether fewer parallel calls are made at present than the settings allow."""
        return self.limit < self.allowed


def provider_loads(provider_ids: set[int]) -> dict[int, ProviderLoad]:
    """The load of these providers by id (one query)."""
    return {load.provider_id: load for load in _loads(LLMProvider.objects.filter(pk__in=provider_ids))}


def busy_providers() -> list[ProviderLoad]:
    """Providers that are called now, that live sessions wait for, or that rest or are kept away (one query)."""
    wanted = LLMProvider.objects.filter(models__session_judges__session__status__in=LIVE_STATUSES).values("pk")
    special = ~Q(state__breaker_reason="") & Q(state__isnull=False) | Q(state__blocked_until__gt=Now())
    at_work = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING).values("provider")
    return _loads(LLMProvider.objects.filter(Q(pk__in=wanted) | Q(pk__in=at_work) | special)[:SHOWN])


def _loads(providers: QuerySet[LLMProvider]) -> list[ProviderLoad]:
    # Served by provider_slot_once, which holds the running comparisons alone.
    taken = JudgeComparison.objects.filter(status=ComparisonStatus.RUNNING, provider=OuterRef("pk")).order_by()
    counted = taken.values("provider").annotate(n=Count("pk")).values("n")
    running = Coalesce(Subquery(counted, output_field=IntegerField()), 0)
    rows = providers.select_related("state").defer("api_key_encrypted")
    return [_load(row) for row in rows.annotate(taken=running, moment=Now())]


def _load(provider: Any) -> ProviderLoad:
    state = getattr(provider, "state", None)
    blocked_until = state.blocked_until if state else None
    is_resting = blocked_until is not None and blocked_until > provider.moment
    concurrency = state.concurrency if state and state.concurrency else provider.max_concurrency
    return ProviderLoad(
        provider_id=provider.pk,
        name=provider.name,
        running=provider.taken,
        limit=min(concurrency, provider.max_concurrency),
        allowed=provider.max_concurrency,
        rests_until=blocked_until if is_resting else None,
        rest_reason=state.blocked_reason if state and is_resting else "",
        breaker_reason=state.breaker_reason if state else "",
        breaker_opened_at=state.breaker_opened_at if state else None,
    )
