"""A provider that asks to slow down (429, Retry-After): it rests for all lanes, and is then called less in parallel.

Additive increase, multiplicative decrease (Chiu and Jain 1989): a 429 halves the parallel calls, and every few seconds
without one adds a call again, up to what the provider's settings allow.
"""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from django.db.models import F, Q
from django.db.models.functions import Now

from judge import metrics
from judge.domain.errors import ErrorCode
from judge.domain.limits import LONGEST_REST, rest, shrunk
from judge.models import JudgeSession, LLMProvider, ProviderState
from judge.services.provider_states import locked_state
from judge.services.queue import publish_progress
from judge.services.transactions import in_transaction

GROW_EVERY_SECONDS = 5.0
# Shorter rests are over before anybody has read of them.
SHOWN_FROM_SECONDS = 5.0


@dataclass(frozen=True)
class Rest:
    """What a provider's answer led to: seconds until it may be called again, and its parallel calls from now on."""

    seconds: float
    concurrency: int


def cool(provider_id: int, code: ErrorCode, retry_after: float | None, began: float) -> Rest:
    """Let the provider rest for all lanes, as long as it asked for or a little longer each time.

    ``began`` is when the refused call began (`time.monotonic`). Whatever began before the end of the last rest was sent
    before its lane could know of it: of several lanes that were refused at once only the first shrinks the parallel
    calls, and prolongs a rest without a wish. Only a 429 shrinks them.
    """
    outcome = in_transaction(partial(_cool, provider_id, code, retry_after, began))
    metrics.cooled(provider_id)
    if outcome.seconds >= SHOWN_FROM_SECONDS:
        concerned = JudgeSession.objects.live().filter(session_judges__model__provider=provider_id)
        for session_id in concerned.values_list("pk", flat=True).distinct():
            publish_progress(session_id)
    return outcome


def grow(provider_id: int) -> None:
    """A call succeeded: allow one more in parallel unless the last change is too fresh (one or two statements)."""
    earlier = Now() - timedelta(seconds=GROW_EVERY_SECONDS)
    rested = Q(blocked_until__isnull=True) | Q(blocked_until__lt=Now())
    shrunken = ProviderState.objects.filter(rested, pk=provider_id, concurrency__isnull=False, changed_at__lt=earlier)
    if shrunken.update(concurrency=F("concurrency") + 1, changed_at=Now()):
        whole = ProviderState.objects.filter(pk=provider_id, concurrency__gte=F("provider__max_concurrency"))
        ProviderState.objects.filter(pk__in=whole.values("pk")).update(concurrency=None)


def _last_rest(state: ProviderState, now: datetime) -> float:
    """Seconds of the rest that ended just now; 0 when it is long over, or parallel calls have grown since."""
    if state.blocked_until is None or state.changed_at is None:
        return 0.0
    is_over = now - state.blocked_until > timedelta(seconds=LONGEST_REST)
    return 0.0 if is_over else (state.blocked_until - state.changed_at).total_seconds()


def _cool(provider_id: int, code: ErrorCode, retry_after: float | None, began: float) -> Rest:
    ago = timedelta(seconds=time.monotonic() - began)
    state, now = locked_state(provider_id)
    allowed = LLMProvider.objects.values_list("max_concurrency", flat=True).get(pk=provider_id)
    concurrency = min(state.concurrency or allowed, allowed)
    is_news = state.blocked_until is None or state.blocked_until <= now - ago
    if is_news or retry_after:
        until = now + timedelta(seconds=rest(retry_after, _last_rest(state, now)))
        if state.blocked_until is None or until > state.blocked_until:
            state.blocked_until, state.blocked_reason = until, code
    if is_news and code is ErrorCode.RATE_LIMITED:
        concurrency = shrunk(concurrency)
        state.concurrency = concurrency
    if is_news:
        state.changed_at = now
    state.save(update_fields=["blocked_until", "blocked_reason", "concurrency", "changed_at"])
    left = (state.blocked_until - now).total_seconds() if state.blocked_until else 0.0
    return Rest(max(0.0, left), concurrency)
