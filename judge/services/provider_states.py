"""Reading and locking what is known about a provider at this moment, by the database's clock."""

from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now

from judge.models import ProviderState, SessionJudge


@dataclass(frozen=True)
class Standing:
    """Whether a provider may be called: seconds it still rests, and why its breaker is open (empty: it is closed)."""

    blocked_seconds: float
    breaker_reason: str


def locked_state(provider_id: int) -> tuple[ProviderState, datetime]:
    """The state's row, locked until the transaction ends, and the database's time; made when there is none yet."""
    rows = ProviderState.objects.select_for_update(of=("self",)).annotate(now=Now())
    state = rows.filter(pk=provider_id).first()
    if state is None:
        try:
            with transaction.atomic():
                ProviderState.objects.create(provider_id=provider_id)
        except IntegrityError:
            pass  # race: another lane made it at the same moment
        state = rows.get(pk=provider_id)
    return state, state.now


def standing(provider_id: int) -> Standing:
    """Whether the provider may be called now (one query)."""
    row = ProviderState.objects.filter(pk=provider_id).values_list("blocked_until", "breaker_reason", Now()).first()
    if row is None:
        return Standing(0.0, "")
    blocked_until, breaker_reason, now = row
    return Standing(_seconds(blocked_until, now), breaker_reason)


def forget_pace(provider_id: int, is_other: bool) -> None:
    """After a provider's settings were changed: what was booked by the old limits holds no longer. ``is_other``: it is
    another server or account by now, so neither does the old one's rest."""
    fresh: dict[str, str | None] = {"next_request_at": None, "next_token_at": None}
    if is_other:
        fresh |= {"blocked_until": None, "blocked_reason": "", "concurrency": None}
    ProviderState.objects.filter(pk=provider_id).update(**fresh)


def seconds_until_callable(session_id: int) -> float | None:
    """Seconds until the first resting provider of a session may be called again; None when none of them rests."""
    rows = SessionJudge.objects.filter(
        session=session_id, stop_reason="", model__provider__state__breaker_reason=""
    ).annotate(until=F("model__provider__state__blocked_until"), now=Now())
    waits = [_seconds(until, now) for until, now in rows.values_list("until", "now")]
    return min((seconds for seconds in waits if seconds > 0), default=None)


def _seconds(until: datetime | None, now: datetime) -> float:
    return max(0.0, (until - now).total_seconds()) if until is not None else 0.0
