"""One comparison, ready to be sent to its judge."""

import secrets
from dataclasses import dataclass

from judge.domain.prompt import PromptMessage, RenderedPrompt, render_prompt, render_thread, suspicious_flags
from judge.models import JudgeComparison
from judge.services.briefs import Brief, brief_for
from judge.services.queue import Claim
from pillars.models import Message


@dataclass(frozen=True)
class Case:
    """One comparison with its prompt, which holds two texts and roles, never a pillar, an id or a source.

    ``pillars`` are the numbers of the pillars in slots A and B, for people's eyes; the judge never sees them.
    """

    comparison: JudgeComparison
    brief: Brief
    prompt: RenderedPrompt
    pillars: tuple[int, int]
    flags: list[str]


def load_case(claimed: Claim) -> Case:
    """Read the claimed comparison with its texts (two queries, beside the brief's) and render its prompt."""
    comparison = JudgeComparison.objects.select_related("pair").get(pk=claimed.comparison_id)
    brief = brief_for(comparison.judge_id)
    first, second = _messages(comparison)
    pillars = (brief.pillar_numbers[comparison.pair.pillar_a_id], brief.pillar_numbers[comparison.pair.pillar_b_id])
    return Case(
        comparison=comparison,
        brief=brief,
        prompt=render_prompt(
            brief.template,
            brief.rubric,
            render_thread(first, brief.language),
            render_thread(second, brief.language),
            brief.language,
            nonce=secrets.token_hex(8),
        ),
        pillars=pillars if comparison.position_order == 1 else (pillars[1], pillars[0]),
        flags=sorted({flag for message in (*first, *second) for flag in suspicious_flags(message.content)}),
    )


def _messages(comparison: JudgeComparison) -> tuple[list[PromptMessage], list[PromptMessage]]:
    """The messages of both threads in the order of this presentation."""
    first, second = comparison.thread_ids
    messages: dict[int, list[PromptMessage]] = {first: [], second: []}
    rows = Message.objects.filter(thread_id__in=messages).order_by("thread_id", "position")
    for thread_id, role, content in rows.values_list("thread_id", "role", "content"):
        messages[thread_id].append(PromptMessage(role=role, content=content))  # type: ignore[arg-type]
    return messages[first], messages[second]
