"""The circuit breaker of a provider: after failures in a row nobody calls it but a probe, every half minute.

What counts as "in a row" is read from the record of calls, so it holds across lanes, sessions and machines and needs
no counter that a success would have to reset. A provider that gets another chance is on trial until a call goes well:
it gets one call at a time, and the first that fails opens the breaker again. The trial begins at ``probed_at``.
"""

import logging
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from judge import metrics
from judge.domain.errors import ErrorCode
from judge.domain.limits import TROUBLED, TROUBLED_IN_A_ROW, broken
from judge.llm.budget import Limits
from judge.llm.endpoint import Endpoint
from judge.llm.failures import CallFailed
from judge.llm.listing import list_models
from judge.models import JudgeAttempt, LLMProvider, ProviderState, SessionJudge
from judge.models.session import LIVE_STATUSES
from judge.services.leases import STOPPING
from judge.services.provider_states import locked_state
from judge.services.stopping import free_judges_at, stop_judges_at
from judge.services.transactions import in_transaction

logger = logging.getLogger(__name__)

# Older failures say nothing about now.
LOOKED_BACK_SECONDS = 600.0
PROBE_LIMITS = Limits(connect=10.0, first_token=10.0, silence=10.0, total=10.0)
# Any answer shows that somebody is there, also "wrong key" or "no such page".
NO_ANSWER = frozenset(TROUBLED) - {ErrorCode.PROTOCOL_ERROR}


def open_if_failing(provider_id: int, code: ErrorCode) -> bool:
    """After a call failed with ``code``: open the breaker if that was one too many. Whether it is open now."""
    if code not in TROUBLED:
        return False
    reason = broken(*_last_outcomes(provider_id))
    if reason is None:
        return False
    if in_transaction(partial(_open, provider_id, reason)):
        logger.warning("breaker_opened provider=%s reason=%s", provider_id, reason)
        metrics.breaker_opened(provider_id, reason)
    stop_judges_at(provider_id, reason)
    return True


def close(provider_id: int, resumed: int | None = None) -> None:
    """The provider answers again: its judges go on, at first one call at a time.

    ``resumed``: id of the session whose resume by a person is the reason; its status is moved by that person.
    """
    if in_transaction(partial(_close, provider_id)):
        logger.warning("breaker_closed provider=%s", provider_id)
    free_judges_at(provider_id, TROUBLED, but=resumed)


def probe(provider_id: int) -> bool:
    """Ask an open provider for its models, unless somebody did within the last half minute. Whether it answers."""
    if not due().filter(pk=provider_id).update(probed_at=Now()):
        return False
    answers = _is_answering(LLMProvider.objects.get(pk=provider_id))
    if answers:
        close(provider_id)
    return answers


def due() -> QuerySet[ProviderState]:
    """Providers whose breaker is open and whose last probe (or opening) is half a minute ago."""
    earlier = Now() - timedelta(seconds=settings.JUDGE_PROBE_SECONDS)
    return ProviderState.objects.exclude(breaker_reason="").filter(
        Q(probed_at__lt=earlier) | Q(probed_at__isnull=True), breaker_opened_at__lt=earlier
    )


def stop_started_meanwhile() -> None:
    """Judges of sessions that were started or resumed while the breaker of their provider was open."""
    going = SessionJudge.objects.filter(stop_reason="", session__status__in=LIVE_STATUSES)
    broken_ones = going.exclude(model__provider__state__breaker_reason="").filter(model__provider__state__isnull=False)
    for provider_id, reason in set(
        broken_ones.values_list("model__provider_id", "model__provider__state__breaker_reason")
    ):
        stop_judges_at(provider_id, reason)


def free_left_behind() -> None:
    """Judges that a breaker stopped which is closed by now: whoever closed it was killed before it freed them."""
    stopped = SessionJudge.objects.filter(stop_reason__in=list(TROUBLED))
    open_ones = ProviderState.objects.exclude(breaker_reason="").values("provider")
    for provider_id in set(stopped.exclude(model__provider__in=open_ones).values_list("model__provider_id", flat=True)):
        free_judges_at(provider_id, TROUBLED)


def _is_answering(provider: LLMProvider) -> bool:
    hosts = tuple(settings.JUDGE_LOCAL_LLM_HOSTS)
    endpoint = Endpoint(provider.pk, provider.base_url, provider.api_key, model_name="", local_hosts=hosts)
    try:
        list_models(endpoint, PROBE_LIMITS, STOPPING.is_set)
    except CallFailed as failure:
        return failure.code not in NO_ANSWER | {ErrorCode.CANCELLED, ErrorCode.ADDRESS_REFUSED}
    return True


def _last_outcomes(provider_id: int) -> tuple[list[str], int]:
    """How the provider's last calls ended, newest first, and how many of them ended since its trial began.

    Calls that we cut ourselves say nothing about it.
    """
    ended = JudgeAttempt.objects.filter(
        comparison__judge__model__provider=provider_id,
        ended_at__gte=Now() - timedelta(seconds=LOOKED_BACK_SECONDS),
    ).exclude(outcome__in=(ErrorCode.CANCELLED, ErrorCode.STALE_ATTEMPT, ErrorCode.INTERNAL_ERROR))
    trial = ProviderState.objects.filter(pk=provider_id).values_list("probed_at", flat=True).first()
    last = list(ended.order_by("-ended_at", "-pk").values_list("outcome", "ended_at")[:TROUBLED_IN_A_ROW])
    return [outcome for outcome, _ in last], sum(bool(trial and at and at > trial) for _, at in last)


def _open(provider_id: int, reason: ErrorCode) -> bool:
    state, now = locked_state(provider_id)
    if state.breaker_reason:
        return False
    state.breaker_reason, state.breaker_opened_at, state.probed_at = reason, now, None
    state.save(update_fields=["breaker_reason", "breaker_opened_at", "probed_at"])
    return True


def _close(provider_id: int) -> bool:
    return bool(
        ProviderState.objects.exclude(breaker_reason="")
        .filter(pk=provider_id)
        .update(breaker_reason="", breaker_opened_at=None, probed_at=Now(), concurrency=1, changed_at=Now())
    )
