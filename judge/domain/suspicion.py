"""Signs that a judged text tries to steer its judge. A flag is a hint for the reader, never a reason to drop a text."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_LETTER = r"(?-i:A|B|TIE)\b"
_GAP = r"[^.!?\n]{0,60}?"

_FORGED_DELIMITER = re.compile(
    r"<<\s{0,20}(?:/\s{0,20}|end\s{1,20}|ende\s{1,20})?(?:thread|text|verlauf)\b"
    r"|\b(?:end|ende)\s+(?:of\s+)?(?:thread|verlauf)\s+(?-i:A|B)\b"
    r"|^[ \t]{0,20}\[(?:counsellor|client|beratende person|ratsuchende person)\][ \t]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)

_INSTRUCTION = re.compile(
    "|".join(
        (
            # English: set the rules aside
            rf"\b(?:ignore|disregard|forget|override)\b{_GAP}"
            r"\b(?:instructions?|rubrics?|criteri(?:a|on)|prompts?|guidelines|(?:previous|above|prior)\s+rules)\b",
            # German: set the rules aside ("ignoriert mich" alone is an everyday sentence)
            rf"\b(?:ignorier(?:e|en|t)?|vergiss|vergessen\s+sie|missachte(?:n)?)\b{_GAP}"
            r"\b(?:anweisung(?:en)?|anleitung(?:en)?|instruktion(?:en)?|vorgaben|bewertungsraster|raster|rubrik"
            r"|(?:bewertungs)?kriterien|(?:system-?)?prompts?|(?:bisherigen|vorherigen|obigen)\s+regeln)\b",
            # ask for a result
            r"\b(?:answer|choose|select|pick|output|respond|reply|vote|prefer)\s+(?:with\s+|for\s+)?"
            rf"(?:only\s+)?(?:(?:option|text|thread|winner)\s+)?[\"'“„»]?{_LETTER}",
            r"\b(?:antworten?|wählen?|entscheiden?|stimmen?|nennen?|nimm|bevorzugen?)\s+(?:sie\s+)?(?:sich\s+|dich\s+)?"
            rf"(?:bitte\s+)?(?:nur\s+)?(?:mit\s+|für\s+)?(?:(?:option|text|verlauf|thread)\s+)?[\"'“„»]?{_LETTER}",
            r"\b(?:text|thread|verlauf|option)\s+(?-i:A|B)\s+(?:wins|is\s+(?:the\s+)?(?:winner|better)|gewinnt"
            r"|ist\s+(?:der\s+|die\s+)?(?:gewinner|sieger|besser))",
            rf"\b(?:winner|gewinner|sieger)\s+(?:is|ist)\s+(?:(?:text|thread|verlauf)\s+)?[\"'“„»]?{_LETTER}",
            rf"\b(?:give|rate|score|award)\b{_GAP}\b(?:highest|maximum|full|top)\s+(?:scores?|marks?|points|ratings?)\b",
            rf"\b(?:gib|geben|vergib|vergeben|bewerten?)\b{_GAP}"
            r"\b(?:höchst(?:e|en|er)?\s*(?:punktzahl|note|wertung|bewertung)|volle(?:r|n)?\s+punktzahl|bestnote)\b",
            # take on another role, or the marks of chat templates
            r"\b(?:you\s+are\s+now|act\s+as)\s+(?:an?\s+|the\s+)?(?:judge|evaluator|grader|assistant)\b",
            r"\bdu\s+bist\s+(?:jetzt|nun|ab\s+jetzt)\s+(?:ein(?:e)?\s+|der\s+|die\s+)?(?:judge|richter|gutachter|assistent)",
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>|\[/?INST\]|<<SYS>>",
            r"^[ \t]{0,20}(?:system|assistant)[ \t]?(?:prompt|message)?[ \t]?:",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)

_QUOTE = r"[\"'“”„«»]"
_FORGED_VERDICT = re.compile(
    rf"\bwinner\b{_QUOTE}?\s*[:=]\s*(?:{_QUOTE}\s*(?:A|B|TIE)\b|(?-i:A|B|TIE)\b)"
    rf"|{_QUOTE}(?:criteria_scores|score_[ab]|final_justification|chain_of_thought)\b"
    rf"|{_QUOTE}confidence{_QUOTE}\s*:\s*[\d.]",
    re.IGNORECASE,
)

# Zero-width characters and bidirectional controls; the soft hyphen is ordinary typography and not among them.
_INVISIBLE: Final = (
    "\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2060-\u2064\u3164\uffa0\ufeff"
    "\u202a-\u202e\u2066-\u206f\U000e0000-\U000e007f"
)
_HIDDEN = re.compile(f"[{_INVISIBLE}]|[\U000e0100-\U000e01ef]{{2}}|[\ufe00-\ufe0f]{{2}}")
_JOINER = re.compile("[\u200c\u200d]")
_STRIPPED = re.compile(f"[{_INVISIBLE}\u00ad\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_FLAG_TAGS = re.compile("\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f")  # flags of England, Scotland, Wales
_EMOJI_MODIFIERS: Final = frozenset("\ufe0f\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_SCRIPTS_WITHOUT_JOINERS: Final = ("LATIN", "GREEK", "CYRILLIC")


# A thread is judged many times in a session, its text does not change meanwhile.
@lru_cache(maxsize=4096)
def suspicious_flags(text: str) -> tuple[str, ...]:
    """What in a judged text a reader should know of, as codes in a fixed order, each at most once.

    forged_delimiter: something like our delimiter or speaker lines. instruction: tells the judge what to do, in German
    or English. forged_verdict: a verdict's JSON. hidden_characters: bidirectional controls, zero-width and tag
    characters; joiners within emoji or joining scripts, soft hyphens and a leading byte order mark are none.
    """
    visible = unicodedata.normalize("NFKC", _STRIPPED.sub("", text))
    flags = {
        "forged_delimiter": _FORGED_DELIMITER.search(visible) is not None,
        "instruction": _INSTRUCTION.search(visible) is not None,
        "forged_verdict": _FORGED_VERDICT.search(visible) is not None,
        "hidden_characters": _hides_characters(text),
    }
    return tuple(code for code, found in flags.items() if found)


def _hides_characters(text: str) -> bool:
    body = _FLAG_TAGS.sub("", text.removeprefix("\ufeff"))
    if _HIDDEN.search(body):
        return True
    return any(
        not _joins(body[max(0, match.start() - 1) : match.start()], body[match.end() : match.end() + 1])
        for match in _JOINER.finditer(body)
    )


def _joins(before: str, after: str) -> bool:
    """Whether a joiner between these two characters is ordinary writing."""
    if not before or not after:
        return False
    if before in _EMOJI_MODIFIERS or unicodedata.category(before) == "So":
        return unicodedata.category(after) in {"So", "Sm"}  # Sm: male, female and arrow signs vary
    return before.isalpha() and not unicodedata.name(before, "").startswith(_SCRIPTS_WITHOUT_JOINERS)
