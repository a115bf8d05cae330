"""How good a thread is to the simulated judge: planted for the demo threads, drawn from its text for all others."""

import hashlib
from collections.abc import Mapping
from functools import lru_cache

from judge.domain.prompt import PromptMessage, render_thread
from judge.domain.rubric import Language

_LANGUAGES: tuple[Language, ...] = ("de", "en")


class QualityIndex:
    """Qualities from 0 to 1 by the text of a rendered thread."""

    def __init__(self, planted: Mapping[str, float]) -> None:
        self._planted = {_digest(text): quality for text, quality in planted.items()}

    def quality(self, text: str) -> float:
        """The planted quality of a rendered thread, or else a stable one made from its text alone."""
        digest = _digest(text)
        planted = self._planted.get(digest)
        return int.from_bytes(digest[:8]) / 2**64 if planted is None else planted


@lru_cache(maxsize=1)
def demo_index() -> QualityIndex:
    """The index of the demo threads, in both languages in which a prompt can show them."""
    from pillars.demo.library import demo_threads, planted_quality

    qualities = planted_quality()
    planted = {}
    for threads in demo_threads().values():
        for thread in threads:
            messages = [PromptMessage(role=item["role"], content=item["content"]) for item in thread["messages"]]
            for language in _LANGUAGES:
                planted[render_thread(messages, language)] = qualities[thread["id"]]
    return QualityIndex(planted)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
