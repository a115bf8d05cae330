"""What the simulated judge writes around its scores, in both languages. Generic on purpose: it has read nothing."""

from collections.abc import Mapping
from typing import Final

from judge.domain.rubric import DEFAULT_CRITERIA, Language

Phrases = Mapping[str, tuple[str, ...]]

_GERMAN: Final[Phrases] = {
    "overview": (
        "Beide Verläufe sind Beratungen per E-Mail mit je einem erkennbaren Anliegen. Verglichen wird, wie die "
        "Beratung darauf eingeht.",
        "In beiden Verläufen wendet sich eine ratsuchende Person mit einer Belastung an die Beratung. Betrachtet wird, "
        "was die Antworten daraus machen.",
    ),
    "strength_high": (
        "Verlauf {x} greift das Anliegen auf, benennt Gefühle und führt zu gangbaren Schritten.",
        "Verlauf {x} wirkt zugewandt und gut gegliedert und bezieht sich auf das Geschriebene.",
    ),
    "strength_low": (
        "Verlauf {x} bleibt im Ton freundlich und antwortet auf die Anfrage.",
        "Verlauf {x} ist verständlich und nimmt einzelne Punkte der Anfrage auf.",
    ),
    "weakness_high": (
        "In Verlauf {x} könnten einzelne Fragen noch genauer sein.",
        "In Verlauf {x} bleiben wenige Punkte offen, ohne dass es ins Gewicht fällt.",
    ),
    "weakness_low": (
        "In Verlauf {x} bleiben Gefühle und Vorgeschichte blass, und die Vorschläge sind allgemein.",
        "In Verlauf {x} geht die Beratung wenig auf die Lage ein und greift auf allgemeine Wendungen zurück.",
    ),
    "comparison_win": (
        "Im Ganzen gelingt die Beratung in Verlauf {x} besser als in Verlauf {y}.",
        "Verlauf {x} überzeugt im Vergleich mit Verlauf {y} stärker.",
    ),
    "comparison_tie": ("Im Ganzen sind beide Verläufe gleich gut.",),
    "criterion_win": (
        "{label}: Verlauf {x} überzeugt mehr als Verlauf {y}.",
        "{label}: Verlauf {x} liegt vor Verlauf {y}.",
    ),
    "criterion_tie": ("{label}: Beide Verläufe liegen gleichauf.", "{label}: Ein Unterschied ist nicht zu erkennen."),
    "final_win": ("Simuliertes Urteil ohne Sprachmodell: Verlauf {x} ist besser als Verlauf {y}.",),
    "final_tie": ("Simuliertes Urteil ohne Sprachmodell: Beide Verläufe sind gleich gut.",),
    "no_threads": ("Simulierter Judge, kein Sprachmodell. Die Anfrage enthält keine zwei Verläufe.",),
}

_ENGLISH: Final[Phrases] = {
    "overview": (
        "Both threads are counselling by e-mail, each with a recognisable concern. What is compared is how the "
        "counselling responds to it.",
        "In both threads a client brings a burden to the counselling service. What matters is what the answers make "
        "of it.",
    ),
    "strength_high": (
        "Thread {x} takes up the concern, names feelings and leads to workable steps.",
        "Thread {x} is warm and well structured and refers to what was written.",
    ),
    "strength_low": (
        "Thread {x} keeps a friendly tone and answers the request.",
        "Thread {x} is easy to understand and takes up single points of the request.",
    ),
    "weakness_high": (
        "In thread {x} some questions could be more precise.",
        "In thread {x} a few points stay open without carrying weight.",
    ),
    "weakness_low": (
        "In thread {x} feelings and history stay pale, and the suggestions are general.",
        "In thread {x} the counselling hardly responds to the situation and falls back on general phrases.",
    ),
    "comparison_win": (
        "On the whole the counselling succeeds better in thread {x} than in thread {y}.",
        "Thread {x} is more convincing than thread {y}.",
    ),
    "comparison_tie": ("On the whole both threads are equally good.",),
    "criterion_win": (
        "{label}: thread {x} is more convincing than thread {y}.",
        "{label}: thread {x} is ahead of thread {y}.",
    ),
    "criterion_tie": ("{label}: both threads are level.", "{label}: no difference can be made out."),
    "final_win": ("Simulated verdict, no LLM: thread {x} is better than thread {y}.",),
    "final_tie": ("Simulated verdict, no LLM: both threads are equally good.",),
    "no_threads": ("Simulated judge, no LLM. The request does not hold two threads.",),
}

PHRASES: Final[Mapping[Language, Phrases]] = {"de": _GERMAN, "en": _ENGLISH}

LABELS: Final[Mapping[Language, Mapping[str, str]]] = {
    language: {criterion.key: criterion.label for criterion in criteria}
    for language, criteria in DEFAULT_CRITERIA.items()
}
