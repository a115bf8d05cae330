"""From a prompt version, a rubric and two threads to what a judge is sent, and back.

A prompt text has two parts, headed by the lines `[system]` and `[user]`, and exactly four placeholders:
`{criteria}` and `{answer_format}` once each in either part, `{thread_a}` and `{thread_b}` once each, in this order and
on lines of their own, in the user part. The system part holds nothing of the single comparison, so that a server can
reuse its cached prefix.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final, Literal

from judge.domain.errors import DomainError
from judge.domain.prompt_texts import DEFAULT_PROMPTS
from judge.domain.rubric import Language, Rubric
from judge.domain.suspicion import suspicious_flags
from judge.domain.verdict import STEPS

__all__ = [
    "DEFAULT_PROMPTS",
    "PLACEHOLDERS",
    "PromptError",
    "PromptMessage",
    "RenderedPrompt",
    "messages_sha256",
    "reask_message",
    "render_prompt",
    "render_thread",
    "split_threads",
    "suspicious_flags",
    "validate_template",
]

PLACEHOLDERS: Final = ("criteria", "answer_format", "thread_a", "thread_b")

_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_PARTS = re.compile(r"\s*\[system\][ \t]*\n(?P<system>.*?)\n\[user\][ \t]*\n(?P<user>.*)", re.DOTALL)
_NONCE = re.compile(r"[0-9A-Za-z_-]{8,64}")
_OPENING = re.compile(r"^<<<THREAD A ([0-9A-Za-z_-]{8,64})>>>\n", re.MULTILINE)

_SPEAKERS: Final[Mapping[Language, Mapping[str, str]]] = MappingProxyType(
    {
        "de": {"counsellor": "Beratende Person", "client": "Ratsuchende Person"},
        "en": {"counsellor": "Counsellor", "client": "Client"},
    }
)


class PromptError(DomainError):
    """A prompt text or nonce that cannot be used.

    Codes: prompt_parts, prompt_placeholder_unknown, prompt_placeholder_missing, prompt_placeholder_repeated,
    prompt_placeholder_misplaced, prompt_delimiter, nonce_invalid, nonce_collision, language_unknown.
    """


@dataclass(frozen=True)
class PromptMessage:
    """One e-mail of a thread as a judge sees it: who speaks, and the text."""

    role: Literal["counsellor", "client"]
    content: str


@dataclass(frozen=True)
class RenderedPrompt:
    """What is sent to a judge for one comparison."""

    system: str
    user: str

    @property
    def sha256(self) -> str:
        """Hex digest over both parts, 64 characters."""
        return hashlib.sha256(f"{self.system}\0{self.user}".encode("utf-8", "surrogatepass")).hexdigest()

    def messages(self) -> list[dict[str, str]]:
        """The messages of a chat-completions request."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.user}]


def messages_sha256(messages: Sequence[Mapping[str, str]]) -> str:
    """Hex digest of the messages of a request, 64 characters: what was sent, re-asks included."""
    sent = json.dumps([dict(message) for message in messages], sort_keys=True)
    return hashlib.sha256(sent.encode()).hexdigest()


def render_thread(messages: Sequence[PromptMessage], language: Language) -> str:
    """A thread as text: each message under its speaker's role in `language`, messages a blank line apart."""
    speakers = _speakers(language)
    blocks = []
    for message in messages:
        content = message.content.replace("\r\n", "\n").replace("\r", "\n").strip()
        blocks.append(f"[{speakers[message.role]}]\n{content}")
    return "\n\n".join(blocks)


# This and what a rubric contributes are the same for all comparisons of a session.
@lru_cache(maxsize=64)
def validate_template(template: str) -> tuple[str, str]:
    """The system and user part of a prompt text. Raises PromptError when it breaks the rules of this module."""
    match = _PARTS.fullmatch(template.replace("\r\n", "\n"))
    if match is None or not match["system"].strip():
        raise PromptError("prompt_parts", "the text needs a [system] and a [user] part, each headed by its own line")
    system, user = match["system"].strip(), match["user"].strip()
    if "<<<" in template:
        raise PromptError("prompt_delimiter", "the text must not hold the delimiter <<< itself")
    counts = Counter(_PLACEHOLDER.findall(system) + _PLACEHOLDER.findall(user))
    if unknown := counts.keys() - set(PLACEHOLDERS):
        raise PromptError("prompt_placeholder_unknown", f"unknown placeholder {min(unknown)}")
    for name in PLACEHOLDERS:
        if counts[name] == 0:
            raise PromptError("prompt_placeholder_missing", f"placeholder {name} is missing")
        if counts[name] > 1:
            raise PromptError("prompt_placeholder_repeated", f"placeholder {name} stands more than once")
    lines = [line for line in user.split("\n") if line in ("{thread_a}", "{thread_b}")]
    if lines != ["{thread_a}", "{thread_b}"]:
        raise PromptError("prompt_placeholder_misplaced", "the user part needs thread_a, then thread_b, on own lines")
    return system, user


def render_prompt(
    template: str, rubric: Rubric, thread_a: str, thread_b: str, language: Language, nonce: str
) -> RenderedPrompt:
    """The prompt for one presentation of two rendered threads, `thread_a` first.

    Placeholders are filled in one pass, so placeholders inside a thread stay as they are. Each thread stands between
    delimiter lines that carry `nonce`: 8 to 64 letters, digits, "_" or "-", hard to guess, and in neither thread.
    Raises PromptError.
    """
    system, user = validate_template(template)
    if not _NONCE.fullmatch(nonce):
        raise PromptError("nonce_invalid", "a nonce is 8 to 64 letters, digits, _ or -")
    if nonce in thread_a or nonce in thread_b:
        raise PromptError("nonce_collision", "the nonce occurs in a thread")
    _speakers(language)
    values = {
        "criteria": _criteria(rubric, language),
        "answer_format": _answer_format(rubric, language),
        "thread_a": _delimited("A", thread_a, nonce),
        "thread_b": _delimited("B", thread_b, nonce),
    }
    return RenderedPrompt(system=_fill(system, values), user=_fill(user, values))


def split_threads(user_prompt: str) -> tuple[str, str] | None:
    """Both rendered threads from a user part made by `render_prompt`; None if there are none.

    Only the nonce of the first delimiter counts: it stands before any thread text, so no thread can forge it.
    """
    opening = _OPENING.search(user_prompt)
    if opening is None:
        return None
    nonce = opening.group(1)
    threads = []
    for letter in "AB":
        match = re.search(
            rf"^<<<THREAD {letter} {nonce}>>>\n(.*?)\n<<<END THREAD {letter} {nonce}>>>$",
            user_prompt,
            re.DOTALL | re.MULTILINE,
        )
        if match is None:
            return None
        threads.append(match.group(1))
    return threads[0], threads[1]


_REASK: Final[Mapping[Language, tuple[str, str]]] = MappingProxyType(
    {
        "de": (
            "Ihre letzte Antwort war kein gültiges Urteil:",
            "Beurteilen Sie die beiden Verläufe noch einmal und antworten Sie ausschließlich mit einem vollständigen "
            "JSON-Objekt in der verlangten Form, ohne Text davor oder danach.",
        ),
        "en": (
            "Your last answer was not a valid verdict:",
            "Judge the two threads again and answer with nothing but one complete JSON object in the required form, "
            "without any text before or after it.",
        ),
    }
)
_RULES_DE: Final = {
    "missing": "fehlt",
    "unexpected field": "unbekanntes Feld",
    "not a text": "kein Text",
    "not a number": "keine Zahl",
    "not a finite number": "keine endliche Zahl",
    "out of range": "außerhalb der Skala",
    "not one of A, B, TIE": "nicht A, B oder TIE",
    "not an object": "kein JSON-Objekt",
    "empty": "leer",
    "refused": "kein Urteil, sondern eine Ablehnung",
    "forbidden character": "unzulässiges Zeichen",
    "unfinished reasoning": "Überlegung nicht abgeschlossen",
    "no JSON object": "kein JSON-Objekt gefunden",
    "more than one JSON object": "mehr als ein JSON-Objekt",
    "incomplete JSON": "unvollständiges JSON",
    "malformed JSON": "fehlerhaftes JSON",
    "duplicate key": "doppelter Schlüssel",
    "invalid": "ungültig",
}


def reask_message(problems: Sequence[str], language: Language) -> str:
    """What to send after an invalid answer: its problems (as in InvalidAnswer.problems), never its words."""
    _speakers(language)
    head, tail = _REASK[language]
    lines = []
    for problem in problems:
        path, _, rule = problem.rpartition(": ")
        shown = _RULES_DE.get(rule, _RULES_DE["invalid"]) if language == "de" else rule
        subject = {"de": "Antwort", "en": "answer"}[language] if path == "answer" else path
        lines.append(f"- {subject}: {shown}")
    return "\n".join([head, *lines, tail])


def _speakers(language: Language) -> Mapping[str, str]:
    if language not in _SPEAKERS:
        raise PromptError("language_unknown", "language must be de or en")
    return _SPEAKERS[language]


def _fill(part: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match.group(1)], part)


def _delimited(letter: str, thread: str, nonce: str) -> str:
    return f"<<<THREAD {letter} {nonce}>>>\n{thread}\n<<<END THREAD {letter} {nonce}>>>"


@lru_cache(maxsize=64)
def _criteria(rubric: Rubric, language: Language) -> str:
    to = {"de": "bis", "en": "to"}[language]
    return "\n".join(
        f"- {item.key} ({item.label}; {item.scale_min} {to} {item.scale_max}): {' '.join(item.description.split())}"
        for item in rubric.criteria
    )


@lru_cache(maxsize=64)
def _answer_format(rubric: Rubric, language: Language) -> str:
    text = {"de": "Text", "en": "text"}[language]
    number = {"de": "Zahl", "en": "number"}[language]
    to = {"de": "bis", "en": "to"}[language]
    steps = ",\n".join(f'    "{step}": "<{text}>"' for step in STEPS)
    scores = ",\n".join(
        f'    "{item.key}": {{"reasoning": "<{text}>", "score_a": <{number} {item.scale_min} {to} {item.scale_max}>, '
        f'"score_b": <{number} {item.scale_min} {to} {item.scale_max}>}}'
        for item in rubric.criteria
    )
    return (
        f'{{\n  "chain_of_thought": {{\n{steps}\n  }},\n  "criteria_scores": {{\n{scores}\n  }},\n'
        f'  "winner": "A" | "B" | "TIE",\n  "confidence": <{number} 0 {to} 1>,\n  "final_justification": "<{text}>"\n}}'
    )
