"""Everything a lane needs to know to judge one comparison, read in a fixed number of queries."""

import secrets
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings

from judge.domain.prompt import (
    PromptMessage,
    RenderedPrompt,
    render_prompt,
    render_thread,
    suspicious_flags,
)
from judge.domain.rubric import Language, Rubric
from judge.domain.verdict import json_schema
from judge.llm.endpoint import Endpoint, StructuredOutputMode
from judge.models import JudgeComparison, SessionJudge
from judge.services.queue import Claim
from pillars.models import Message


@dataclass(frozen=True)
class Case:
    """One comparison, ready to be sent: the prompt holds two texts and roles, never a pillar, an id or a source."""

    comparison: JudgeComparison
    prompt: RenderedPrompt
    rubric: Rubric
    criterion_ids: dict[str, int]
    schema: dict[str, Any]
    endpoint: Endpoint
    language: Language
    flags: list[str]


def load_case(claimed: Claim) -> Case:
    """Read the claimed comparison with texts, rubric and model (three queries) and render its prompt."""
    comparison = JudgeComparison.objects.select_related(
        "pair__pillar_a", "pair__pillar_b", "session__prompt_version", "session__rubric", "judge__model__provider"
    ).get(pk=claimed.comparison_id)
    session = comparison.session
    language = cast(Language, session.language)
    criteria = list(session.rubric.criteria.all())
    rubric = Rubric(name=session.rubric.name, criteria=tuple(c.as_domain(language) for c in criteria))
    first, second = _texts(comparison, language)
    return Case(
        comparison=comparison,
        prompt=render_prompt(session.prompt_version.text, rubric, first, second, language, nonce=secrets.token_hex(8)),
        rubric=rubric,
        criterion_ids={criterion.key: criterion.pk for criterion in criteria},
        schema=json_schema(rubric),
        endpoint=endpoint_of(comparison.judge),
        language=language,
        flags=sorted({*suspicious_flags(first), *suspicious_flags(second)}),
    )


def endpoint_of(judge: SessionJudge) -> Endpoint:
    """Address, key and frozen parameters of a session's judge."""
    model = judge.model
    return Endpoint(
        provider_id=model.provider_id,
        base_url=model.provider.base_url,
        api_key=model.provider.api_key,
        model_name=model.model_name,
        structured_output=cast(StructuredOutputMode, model.structured_output),
        parameters=judge.parameters,
        local_hosts=tuple(settings.JUDGE_LOCAL_LLM_HOSTS),
    )


def _texts(comparison: JudgeComparison, language: Language) -> tuple[str, str]:
    """Both threads as rendered text in the order of this presentation."""
    pair = comparison.pair
    messages: dict[int, list[PromptMessage]] = {pair.thread_a_id: [], pair.thread_b_id: []}
    rows = Message.objects.filter(thread_id__in=messages).order_by("thread_id", "position")
    for thread_id, role, content in rows.values_list("thread_id", "role", "content"):
        messages[thread_id].append(PromptMessage(role=role, content=content))  # type: ignore[arg-type]
    order = (pair.thread_a_id, pair.thread_b_id)
    if comparison.position_order == 2:
        order = order[::-1]
    return render_thread(messages[order[0]], language), render_thread(messages[order[1]], language)
