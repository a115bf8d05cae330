"""How long the prompts of a plan will be, measured as providers' limits are booked: in characters, three to a token."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from judge.domain.prompt import PromptMessage, render_prompt, render_thread
from judge.domain.rubric import Language
from judge.domain.schema_text import with_schema
from judge.domain.verdict import json_schema
from judge.llm.endpoint import StructuredOutputMode
from judge.selectors.lengths import MessageLengths, message_lengths
from judge.services.planning.basis import PlanBasis
from judge.services.rates import CHARACTERS_PER_TOKEN

# As long as the random code in the delimiters of a real prompt.
_NONCE = "0" * 16


@dataclass(frozen=True)
class PromptLengths:
    """Characters. ``fixed``: what each judge, in the plan's order, is sent beside both threads; ``threads``: by id."""

    fixed: list[int]
    threads: Mapping[int, int]

    def longest_opponents(self) -> dict[int, int]:
        """For each thread the length of the longest one that it could meet."""
        ordered = sorted(self.threads, key=self.threads.__getitem__, reverse=True)
        if len(ordered) < 2:
            return {}
        first, second = ordered[:2]
        return {thread: self.threads[second if thread == first else first] for thread in ordered}


def prompt_lengths(basis: PlanBasis) -> PromptLengths:
    """The lengths of all parts that the plan's prompts are made of (two queries, no text is read)."""
    language = cast(Language, basis.prompt.language)
    found = message_lengths(basis.taking_part)
    none = MessageLengths(0, 0, 0)
    return PromptLengths(
        fixed=_fixed(basis, language),
        threads={pk: _rendered(found.get(pk, none), language) for pk in basis.taking_part},
    )


def tokens(characters: float) -> int:
    """So many characters in tokens, rounded down as for a single call."""
    return int(characters // CHARACTERS_PER_TOKEN)


def _fixed(basis: PlanBasis, language: Language) -> list[int]:
    rubric = basis.rubric.as_domain(language)
    plain = render_prompt(basis.prompt.text, rubric, "", "", language, _NONCE)
    long = with_schema(plain, json_schema(rubric), language)

    def length(mode: str) -> int:
        prompt = plain if cast(StructuredOutputMode, mode) == "json_schema" else long
        return sum(len(message["content"]) for message in prompt.messages())

    return [length(judge.model.output_mode) for judge in basis.judges]


def _rendered(lengths: MessageLengths, language: Language) -> int:
    """The length of a thread as the judge sees it: contents, a line for each speaker, blank lines between."""
    heads = {role: len(render_thread([PromptMessage(role, "")], language)) for role in ("counsellor", "client")}
    messages = lengths.counsellor + lengths.client
    speakers = lengths.counsellor * heads["counsellor"] + lengths.client * heads["client"]
    return lengths.characters + speakers + 2 * max(0, messages - 1)
