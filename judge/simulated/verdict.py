"""The simulated judge's decision: a pure function of its settings and of what it is sent. It reads no text for
meaning; quality comes from an index, the rest from hashes."""

import hashlib
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from judge.domain.prompt import split_threads
from judge.domain.rubric import DEFAULT_CRITERIA, Language
from judge.domain.verdict import STEPS
from judge.simulated.quality import QualityIndex
from judge.simulated.wording import LABELS, PHRASES

# Logits per unit of quality: with the default noise a difference of 0.15 is decided rightly in about 87 % of cases.
QUALITY_LOGITS: Final = 13.3
# A judge that wavers does so mostly about the pair and less about its order; the squares add up to 1.
_PAIR_SHARE: Final = 0.8
_ORDER_SHARE: Final = 0.6
_SCORE_NOISE: Final = 0.08

_CRITERION_LINE = re.compile(r"^- ([a-z][a-z0-9_]{0,63}) \(.*; (-?\d+) (?:bis|to) (-?\d+)\): ", re.MULTILINE)
_ENGLISH_SPEAKER = re.compile(r"\[(?:Client|Counsellor)\]\n")


@dataclass(frozen=True)
class SimulatedSettings:
    """How the simulated judge behaves.

    `position_bias` in logits toward the text shown first; `noise` is a standard deviation in logits; closer than
    `tie_width` logits is a TIE. `latency_ms` is how long a whole answer takes, `first_token_share` the part of it
    before the first text; `chunks` how many pieces the answer comes in (None: about one per word or two).
    """

    seed: int = 1
    position_bias: float = 0.0
    noise: float = 1.8
    tie_width: float = 0.3
    latency_ms: float = 0.0
    chunks: int | None = None
    first_token_share: float = 0.2


@dataclass(frozen=True)
class Scale:
    """One criterion as far as the request tells it."""

    key: str
    low: float
    high: float


def decide(
    settings: SimulatedSettings,
    index: QualityIndex,
    model: str,
    messages: Sequence[Mapping[str, Any]],
    response_format: Mapping[str, Any] | None = None,
) -> dict[str, Any] | str:
    """The verdict document on the two threads in `messages`, or a plain sentence if there are no two threads.

    Depends on seed, model name, thread texts and any later messages (re-asks); not on the nonce, nor on time or order.
    """
    found = _threads(messages)
    if found is None:
        return PHRASES["de"]["no_threads"][0] + " " + PHRASES["en"]["no_threads"][0]
    thread_a, thread_b, later = found
    rng = _random(settings.seed, model, thread_a, thread_b, *later)
    quality_a, quality_b = index.quality(thread_a), index.quality(thread_b)
    logit = _logit(settings, model, thread_a, thread_b, quality_a - quality_b, rng)
    language: Language = "en" if _ENGLISH_SPEAKER.match(thread_a) else "de"
    # The scores follow what the judge believes, bias and noise included, as they would with a real one.
    centre, half = (quality_a + quality_b) / 2, logit / QUALITY_LOGITS / 2
    return _document(settings, logit, centre + half, centre - half, _scales(messages, response_format), language, rng)


def _threads(messages: Sequence[Mapping[str, Any]]) -> tuple[str, str, list[str]] | None:
    for position, message in enumerate(messages):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, str) and (pair := split_threads(content)):
            return pair[0], pair[1], [str(later.get("content")) for later in messages[position + 1 :]]
    return None


def _random(*material: object) -> random.Random:
    text = "\0".join(map(str, material))
    return random.Random(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())


def _logit(
    settings: SimulatedSettings, model: str, thread_a: str, thread_b: str, difference: float, rng: random.Random
) -> float:
    """Positive: A is better. The pair's own part of the noise changes its sign with the order."""
    first, second = sorted((thread_a, thread_b))
    sign = 0.0 if first == second else 1.0 if thread_a == first else -1.0
    of_pair = sign * _random("pair", settings.seed, model, first, second).gauss(0, 1)
    noise = settings.noise * (_PAIR_SHARE * of_pair + _ORDER_SHARE * rng.gauss(0, 1))
    return QUALITY_LOGITS * difference + settings.position_bias + noise


def _scales(messages: Sequence[Mapping[str, Any]], response_format: Mapping[str, Any] | None) -> list[Scale]:
    """The rubric, from the schema if one was sent, else from the criteria listed in the prompt."""
    try:
        schema = (response_format or {})["json_schema"]["schema"]
        entries = schema["properties"]["criteria_scores"]["properties"]
        scores = {key: entry["properties"]["score_a"] for key, entry in entries.items()}
        scales = [Scale(key, float(score["minimum"]), float(score["maximum"])) for key, score in scores.items()]
    except (KeyError, TypeError, AttributeError):
        prompts = "\n".join(str(message.get("content")) for message in messages if message.get("role") == "system")
        scales = [Scale(key, float(low), float(high)) for key, low, high in _CRITERION_LINE.findall(prompts)]
    return scales or [Scale(item.key, item.scale_min, item.scale_max) for item in DEFAULT_CRITERIA["de"]]


def _document(
    settings: SimulatedSettings,
    logit: float,
    level_a: float,
    level_b: float,
    scales: list[Scale],
    language: Language,
    rng: random.Random,
) -> dict[str, Any]:
    phrases = PHRASES[language]

    def say(key: str, **values: str) -> str:
        return rng.choice(phrases[key]).format(**values)

    def outcome(kind: str, difference: float, **values: str) -> str:
        if difference == 0:
            return say(f"{kind}_tie", **values)
        x, y = ("A", "B") if difference > 0 else ("B", "A")
        return say(f"{kind}_win", x=x, y=y, **values)

    difference = 0.0 if abs(logit) < settings.tie_width else logit
    grades = {"A": "high" if level_a >= level_b else "low", "B": "high" if level_b >= level_a else "low"}
    thoughts = (
        say("overview"),
        say(f"strength_{grades['A']}", x="A"),
        say(f"strength_{grades['B']}", x="B"),
        say(f"weakness_{grades['A']}", x="A"),
        say(f"weakness_{grades['B']}", x="B"),
        outcome("comparison", difference),
    )

    def entry(scale: Scale) -> dict[str, Any]:
        score_a, score_b = (_score(scale, level + rng.gauss(0, _SCORE_NOISE)) for level in (level_a, level_b))
        label = LABELS[language].get(scale.key, scale.key.replace("_", " "))
        reasoning = outcome("criterion", score_a - score_b, label=label)
        return {"reasoning": reasoning, "score_a": score_a, "score_b": score_b}

    return {
        "chain_of_thought": dict(zip(STEPS, thoughts, strict=True)),
        "criteria_scores": {scale.key: entry(scale) for scale in scales},
        "winner": "TIE" if difference == 0 else "A" if difference > 0 else "B",
        "confidence": round(0.5 + 0.45 * math.tanh(abs(logit) / 3) + rng.uniform(-0.03, 0.03), 2),
        "final_justification": outcome("final", difference),
    }


def _score(scale: Scale, level: float) -> int:
    value = round(scale.low + (scale.high - scale.low) * min(max(level, 0.0), 1.0))
    return int(min(max(value, math.ceil(scale.low)), math.floor(scale.high)))
