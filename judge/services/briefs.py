"""What all comparisons of one judge in one session share: rubric, schema, prompt, address, prices.

Frozen with the session but for the provider's address and key, so a process keeps it for a few seconds.
"""

import threading
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from judge.domain.rubric import Language, Rubric
from judge.domain.verdict import json_schema, last_words
from judge.llm.endpoint import Endpoint, StructuredOutputMode
from judge.models import LLMProvider, ProviderState, SessionJudge
from judge.services.rates import RateLimits

KEPT_SECONDS = 10.0
MOST_KEPT = 200


@dataclass(frozen=True)
class Brief:
    """One judge's instructions in one session."""

    template: str
    language: Language
    rubric: Rubric
    criterion_ids: dict[str, int]
    schema: dict[str, Any]
    last_words: str
    endpoint: Endpoint
    rates: RateLimits
    # The provider is called less in parallel than its settings allow, since it asked to slow down.
    is_slowed_down: bool
    pillar_numbers: dict[int, int]
    input_price: Decimal | None
    output_price: Decimal | None


_lock = threading.Lock()
_kept: dict[int, tuple[float, Brief]] = {}


def brief_for(session_judge_id: int) -> Brief:
    """The brief of a session's judge, at most ten seconds old (four queries when it is read).

    Raises ProviderNotAllowed: the threads must not be sent to this judge's provider. Raises KeyUnreadable.
    """
    now = time.monotonic()
    with _lock:
        until, brief = _kept.get(session_judge_id, (0.0, None))
    if brief is not None and now < until:
        return brief
    brief = _read(session_judge_id)
    with _lock:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[session_judge_id] = (now + KEPT_SECONDS, brief)
    return brief


def forget_briefs() -> None:
    """Read everything anew, as after a provider turned out to be unusable and may be mended."""
    with _lock:
        _kept.clear()


class ProviderNotAllowed(Exception):
    """The approval for personal data was withdrawn, or the address moved off this machine."""


class KeyUnreadable(Exception):
    """None of this process's keys decrypts the provider's API key."""


def _key_of(provider: LLMProvider) -> str:
    try:
        return provider.api_key
    except ImproperlyConfigured:
        raise KeyUnreadable from None


def _read(session_judge_id: int) -> Brief:
    judge = SessionJudge.objects.select_related("session__prompt_version", "session__rubric", "model__provider").get(
        pk=session_judge_id
    )
    session, model = judge.session, judge.model
    if not model.provider.may_receive_threads:
        raise ProviderNotAllowed
    language = cast(Language, session.language)
    criteria = list(session.rubric.criteria.all())
    rubric = Rubric(name=session.rubric.name, criteria=tuple(c.as_domain(language) for c in criteria))
    return Brief(
        template=session.prompt_version.text,
        language=language,
        rubric=rubric,
        criterion_ids={criterion.key: criterion.pk for criterion in criteria},
        schema=json_schema(rubric),
        last_words=last_words(rubric),
        endpoint=Endpoint(
            provider_id=model.provider_id,
            base_url=model.provider.base_url,
            api_key=_key_of(model.provider),
            model_name=model.model_name,
            structured_output=cast(StructuredOutputMode, model.output_mode),
            parameters=judge.parameters,
            local_hosts=tuple(settings.JUDGE_LOCAL_LLM_HOSTS),
            may_omit_finish_reason=model.provider.may_omit_finish_reason,
            refused_parameters=frozenset(model.refused_parameters),
        ),
        rates=RateLimits.of(model.provider),
        is_slowed_down=ProviderState.objects.filter(pk=model.provider_id, concurrency__isnull=False).exists(),
        pillar_numbers=dict(session.pillars.values_list("pk", "number")),
        input_price=model.input_price,
        output_price=model.output_price,
    )
