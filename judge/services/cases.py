"""One comparison, ready to be sent to its judge."""

import secrets
from dataclasses import dataclass

from judge.domain.prompt import RenderedPrompt, render_prompt
from judge.domain.schema_text import with_schema
from judge.services.briefs import Brief, brief_for
from judge.services.claiming import TakenClaim
from judge.services.texts import rendered_threads


@dataclass(frozen=True)
class Case:
    """One comparison with its prompt, which holds two texts and roles, never a pillar, an id or a source."""

    brief: Brief
    prompt: RenderedPrompt
    flags: list[str]


def load_case(taken: TakenClaim) -> Case:
    """Gather the instructions and both texts of a claimed comparison and render its prompt."""
    brief = brief_for(taken.judge_id)
    first, second = rendered_threads(taken.thread_ids, brief.language)
    prompt = render_prompt(
        brief.template, brief.rubric, first.text, second.text, brief.language, nonce=secrets.token_hex(8)
    )
    if brief.endpoint.structured_output != "json_schema":
        prompt = with_schema(prompt, brief.schema, brief.language)
    return Case(brief=brief, prompt=prompt, flags=sorted(first.flags | second.flags))
