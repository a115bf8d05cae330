"""What is scored: criteria, rubrics, and the six criteria a new installation starts with."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from judge.domain.errors import DomainError

Language = Literal["de", "en"]

_KEY = re.compile(r"[a-z][a-z0-9_]{0,63}")


class RubricError(DomainError):
    """A criterion or rubric that cannot be used. Codes: invalid_criterion, invalid_rubric."""


@dataclass(frozen=True)
class Criterion:
    """One thing that is scored for each text, from `scale_min` (worst) to `scale_max` (best).

    `key` is the name in the answer's JSON: lower case letters, digits and underscores, at most 64, a letter first.
    `weight` is finite and not negative. Raises RubricError.
    """

    key: str
    label: str
    description: str
    weight: float = 1.0
    scale_min: int = 1
    scale_max: int = 5

    def __post_init__(self) -> None:
        if not _KEY.fullmatch(self.key):
            raise RubricError("invalid_criterion", "key must be a lower case identifier of at most 64 characters")
        if not self.label.strip():
            raise RubricError("invalid_criterion", "label is empty")
        if not math.isfinite(self.weight) or self.weight < 0:
            raise RubricError("invalid_criterion", "weight must be finite and not negative")
        if self.scale_min >= self.scale_max:
            raise RubricError("invalid_criterion", "scale_min must be below scale_max")


@dataclass(frozen=True)
class Rubric:
    """A named, ordered set of criteria: at least one, keys unique. Raises RubricError."""

    name: str
    criteria: tuple[Criterion, ...]

    def __post_init__(self) -> None:
        if not self.criteria:
            raise RubricError("invalid_rubric", "a rubric needs at least one criterion")
        if len({criterion.key for criterion in self.criteria}) != len(self.criteria):
            raise RubricError("invalid_rubric", "criterion keys must be unique")

    @property
    def keys(self) -> tuple[str, ...]:
        """The criterion keys in the rubric's order."""
        return tuple(criterion.key for criterion in self.criteria)


_GERMAN: Final = (
    Criterion(
        "counsellor_coherence",
        "Kohärenz der beratenden Person",
        "Die Nachrichten der beratenden Person sind in sich stimmig, bauen aufeinander auf, nehmen auf, was zuvor "
        "geschrieben wurde, und widersprechen sich nicht.",
    ),
    Criterion(
        "client_coherence",
        "Kohärenz der ratsuchenden Person",
        "Die Nachrichten der ratsuchenden Person passen zueinander: Lebenslage, Anliegen, Gefühle und Sprache bleiben "
        "nachvollziehbar, und sie reagiert auf die Antworten, die sie erhält.",
    ),
    Criterion(
        "quality",
        "Beratungsqualität",
        "Die Beratung ist fachlich angemessen: Das Anliegen wird geklärt, Grenzen und mögliche Gefährdungen werden "
        "beachtet, die Antworten sind verständlich, und Verantwortung bleibt bei der ratsuchenden Person.",
    ),
    Criterion(
        "empathy",
        "Empathie",
        "Die beratende Person nimmt Gefühle und Belastungen wahr, benennt sie treffend und wertschätzend und bleibt "
        "zugewandt, ohne zu bewerten oder zu vereinnahmen.",
    ),
    Criterion(
        "authenticity",
        "Authentizität",
        "Der Verlauf wirkt wie ein echter Austausch zwischen zwei Menschen: persönlich, situationsbezogen und ohne "
        "Floskeln, Textbausteine oder aufgesetzte Wendungen.",
    ),
    Criterion(
        "solution_orientation",
        "Lösungsorientierung",
        "Der Austausch eröffnet gangbare nächste Schritte, die zur Lage der ratsuchenden Person passen, ihre Stärken "
        "einbeziehen und weder vorschnell noch bevormundend sind.",
    ),
)

_ENGLISH: Final = (
    Criterion(
        "counsellor_coherence",
        "Coherence of the counsellor",
        "The counsellor's messages are consistent, build on one another, take up what was written before and do not "
        "contradict themselves.",
    ),
    Criterion(
        "client_coherence",
        "Coherence of the client",
        "The client's messages fit together: circumstances, concern, feelings and language stay comprehensible, and "
        "the client responds to the answers received.",
    ),
    Criterion(
        "quality",
        "Quality of counselling",
        "The counselling is professionally sound: the concern is clarified, limits and possible risks are heeded, the "
        "answers are easy to understand, and responsibility stays with the client.",
    ),
    Criterion(
        "empathy",
        "Empathy",
        "The counsellor notices feelings and burdens, names them accurately and with respect, and stays warm without "
        "judging or taking over.",
    ),
    Criterion(
        "authenticity",
        "Authenticity",
        "The thread reads like a real exchange between two people: personal, fitting the situation, free of stock "
        "phrases, canned passages and put-on expressions.",
    ),
    Criterion(
        "solution_orientation",
        "Solution orientation",
        "The exchange opens up workable next steps that suit the client's situation, draw on the client's strengths "
        "and are neither hasty nor patronising.",
    ),
)

DEFAULT_CRITERIA: Final[Mapping[Language, tuple[Criterion, ...]]] = MappingProxyType({"de": _GERMAN, "en": _ENGLISH})
