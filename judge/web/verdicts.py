"""How a verdict is laid out for reading."""

from typing import Any

from judge.domain.verdict import STEPS
from judge.wording import STEP_WORDS, Text, words


def steps_in_order(chain_of_thought: dict[str, Any]) -> list[tuple[Text, str]]:
    """Title and text of each step of the judge's reasoning, known steps first and in their order."""
    known = [key for key in STEPS if key in chain_of_thought]
    others = [key for key in chain_of_thought if key not in STEPS]
    return [(words(STEP_WORDS, key), str(chain_of_thought[key])) for key in (*known, *others)]
