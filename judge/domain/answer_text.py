"""From a model's raw answer to the one JSON object in it, by one fixed rule."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from judge.domain.errors import DomainError, ErrorCode

# How models and servers mark reasoning that stands in the answer itself: opening tag and closing tag, in small letters.
REASONING_TAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "<think>": "</think>",
        "<thinking>": "</thinking>",
        "<thought>": "</thought>",
        "<reasoning>": "</reasoning>",
        "<seed:think>": "</seed:think>",
        "[think]": "[/think]",
    }
)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.DOTALL | re.IGNORECASE)


_REASONING_BLOCK = _any_of(f"{re.escape(start)}.*?{re.escape(end)}" for start, end in REASONING_TAGS.items())
_REASONING_OPEN = _any_of(map(re.escape, REASONING_TAGS))
_REASONING_CLOSE = _any_of(map(re.escape, REASONING_TAGS.values()))
_BLANKS = re.compile("[\ufeff \t\r\n]*")
_FENCE_LINE = re.compile(r"^[ \t]*```[^\n`]*$", re.MULTILINE)
_BRACE_OR_QUOTE = re.compile(r'[{}"]')
_ESCAPE_OR_QUOTE = re.compile(r'\\.|"', re.DOTALL)
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")

_APOLOGY: Final = (
    r"(?:(?:i['’]?\s?a?m\s+)?(?:very\s+|so\s+)?sorry|i\s+apologi[sz]e|apologies|unfortunately|as\s+an\s+ai(?:\s\w+){0,3}"
    r"|es\s+tut\s+mir\s+leid|tut\s+mir\s+leid|entschuldigung|leider|als\s+ki(?:[-\s]\w+){0,2})[\s,.:;!–-]*(?:but\s+|aber\s+)?"
)
_INABILITY_EN: Final = (
    r"(?:i\s+(?:can(?:no|['’])?\s?t|can\s+not|am\s+(?:unable|not\s+able)\s+to|must\s+decline|won['’]?t|will\s+not)"
    r"|i['’]m\s+(?:unable|not\s+able)\s+to)\b[^.!?\n]{0,40}?"
    r"\b(?:help|assist|comply|provide|fulfil+|do\s+(?:that|this)|continue|engage|participate|evaluate|assess|judge|rate"
    r"|compare|discuss|respond|process|decline)\b"
)
_INABILITY_DE: Final = (
    r"(?:ich\s+kann|kann\s+ich|ich\s+darf|darf\s+ich|ich\s+werde|ich\s+möchte)\b[^.!?\n]{0,60}?\bnicht\b[^.!?\n]{0,60}?"
    r"\b(?:helfen|weiterhelfen|unterstützen|nachkommen|bewerten|beurteilen|vergleichen|beantworten|erfüllen|entsprechen"
    r"|durchführen|bereitstellen|besprechen|verarbeiten)\b"
    r"|(?:ich\s+bin|bin\s+ich)\s+nicht\s+in\s+der\s+lage\b"
)
_REFUSAL = re.compile(rf"(?:{_APOLOGY}){{0,3}}(?:{_INABILITY_EN}|{_INABILITY_DE})", re.IGNORECASE)


class InvalidAnswer(DomainError):
    """An answer that is not a verdict. Its code is empty, refused, invalid_json or invalid_verdict.

    `problems` are short and free of content: a path and a rule ("criteria_scores.empathy.score_a: out of range"),
    never the answer's own words, so they may be logged and sent back to the model.
    """

    problems: tuple[str, ...]

    def __init__(self, code: ErrorCode, problems: tuple[str, ...]) -> None:
        super().__init__(code, f"{code}: {'; '.join(problems)}")
        self.problems = problems


def holds_unstorable_characters(text: str) -> bool:
    """Whether `text` holds a NUL or a lone surrogate, which neither UTF-8 nor PostgreSQL can store."""
    return _NOT_TEXT.search(text) is not None


def extract_json(text: str) -> str:
    """The one JSON object in an answer, as the exact substring of `text`.

    The rule: drop a byte order mark and leading reasoning blocks; then the whole text if it is a JSON object; else the
    one fenced block that is; else the outermost braces. Several objects are accepted only if they are equal.
    Raises InvalidAnswer: empty, refused (plain prose that opens like a refusal) or invalid_json.
    """
    body = without_reasoning(text)
    if not body:
        raise InvalidAnswer(ErrorCode.EMPTY, ("answer: empty",))
    is_json, value = _decode(body)
    if is_json:
        if isinstance(value, _Object):
            return body
        raise _invalid("answer: not an object")
    fenced, rest = _split_fences(body)
    candidates = fenced + list(_outermost(rest, strict=not fenced))
    if not candidates:
        if looks_like_refusal(body):
            raise InvalidAnswer(ErrorCode.REFUSED, ("answer: refused",))
        raise _invalid("answer: no JSON object")
    if len(candidates) > 1 and not _all_equal(candidates):
        raise _invalid("answer: more than one JSON object")
    return candidates[0]


def looks_like_refusal(text: str) -> bool:
    """Whether plain prose opens like a refusal, in German or English.

    Conservative, because a refusal is never asked again: no brace anywhere, and the first sentence must say that the
    model will not do the task. "I cannot say which is better" is no refusal.
    """
    body = text.strip("\ufeff \t\r\n*_\"'")
    return "{" not in body and _REFUSAL.match(body) is not None


def without_reasoning(text: str) -> str:
    """An answer without the reasoning before it, and without blanks and byte order marks around it.

    Dropped are leading blocks between a pair of tags, and what stands before a closing tag alone: some chat templates
    put the opening tag into the prompt. But a text that begins with an object keeps it: there the tag may be quoted,
    and what follows it may be a verdict that a thread suggested. Raises InvalidAnswer for reasoning without an end.
    """
    start = _after_blanks(text, 0)
    while match := _REASONING_BLOCK.match(text, start):
        start = _after_blanks(text, match.end())
    if _REASONING_OPEN.match(text, start):
        raise _invalid("answer: unfinished reasoning")
    tag = _REASONING_CLOSE.search(text, start)
    if tag and _ends_reasoning(text, start, tag.start()):
        start = _after_blanks(text, tag.end())
    return text[start:].rstrip("\ufeff \t\r\n")


def _ends_reasoning(text: str, start: int, tag: int) -> bool:
    if text.startswith(("{", "```"), start) or _REASONING_OPEN.search(text, start, tag):
        return False
    return not _within_braces(text, start, tag)


def _after_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


def _within_braces(text: str, start: int, position: int) -> bool:
    start = text.find("{", start, position)
    while start >= 0:
        end = _closing(text, start)
        if end is None:
            return False
        if end > position:
            return True
        start = text.find("{", end, position)
    return False


class _Object(tuple[Any, ...]):
    """A decoded JSON object as its key-value pairs, so that duplicate keys survive the comparison."""

    __slots__ = ()


def _decode(text: str) -> tuple[bool, Any]:
    try:
        return True, json.loads(text, object_pairs_hook=lambda pairs: _Object(sorted(pairs, key=lambda p: p[0])))
    except (ValueError, RecursionError):
        return False, None


def _all_equal(candidates: list[str]) -> bool:
    try:  # by their text form, because True == 1 == 1.0 in Python but not in JSON
        return len({repr(_decode(candidate)[1]) for candidate in candidates}) == 1
    except RecursionError:
        return False


def _split_fences(body: str) -> tuple[list[str], str]:
    """Fenced blocks that are JSON objects, and the text around them. A fence is a line of its own, so that backticks
    inside a JSON string, which cannot hold a raw line break, never end a block."""
    lines = list(_FENCE_LINE.finditer(body))
    found: list[str] = []
    rest: list[str] = []
    kept_from = 0
    index = 0
    while index + 1 < len(lines):
        inner = body[lines[index].end() : lines[index + 1].start()].strip()
        is_json, value = _decode(inner)
        if is_json and isinstance(value, _Object):
            found.append(inner)
            rest.append(body[kept_from : lines[index].start()])
            kept_from = lines[index + 1].end()
            index += 2
        elif is_json:
            raise _invalid("answer: not an object")
        else:
            index += 1
    rest.append(body[kept_from:])
    return found, "\n".join(rest)


def _outermost(text: str, strict: bool) -> Iterator[str]:
    """Top-level brace spans that decode. With `strict`, half an object or a broken one is an error, because taking an
    inner or a later object instead would be guessing; "{A}" in prose, without any quote, is just prose."""
    position = text.find("{")
    while position >= 0:
        end = _closing(text, position)
        if end is None:
            if strict:
                raise _invalid("answer: incomplete JSON")
            return
        span = text[position:end]
        is_json, _ = _decode(span)
        if is_json:
            yield span
        elif strict and '"' in span:
            raise _invalid("answer: malformed JSON")
        position = text.find("{", end)


def _closing(text: str, start: int) -> int | None:
    """Index after the brace that closes the one at `start`, braces inside strings not counted; None if none does."""
    depth = 0
    position = start
    while match := _BRACE_OR_QUOTE.search(text, position):
        position = match.end()
        if match.group() == "{":
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if depth == 0:
                return position
        else:
            while (inner := _ESCAPE_OR_QUOTE.search(text, position)) and inner.group() != '"':
                position = inner.end()
            if inner is None:
                return None
            position = inner.end()
    return None


def _invalid(problem: str) -> InvalidAnswer:
    return InvalidAnswer(ErrorCode.INVALID_JSON, (problem,))
