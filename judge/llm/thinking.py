"""What watchers of a growing answer see: the answer, and not the reasoning that some models put before it."""

import re
from collections.abc import Callable
from typing import Final

from judge.domain.answer_text import REASONING_TAGS

_BLANK: Final = "\ufeff \t\r\n"
_LONGEST_TAG: Final = max(map(len, REASONING_TAGS))


class WatchedText:
    """Passes the pieces of an answer on, but holds leading blanks and reasoning blocks back, however they are cut.

    A block whose opening tag stood in the prompt cannot be told from an answer before it ends, so it is passed on.
    The text itself is kept elsewhere, whole; nothing here changes it.
    """

    def __init__(self, on_text: Callable[[str], None]) -> None:
        self._on_text = on_text
        self._held = ""
        self._closing = ""
        self._is_answer = False

    def add(self, piece: str) -> None:
        """Take the next piece of the answer."""
        if self._is_answer:
            self._on_text(piece)
            return
        self._held += piece
        while self._held and not self._is_answer:
            if not (self._skip_block() if self._closing else self._enter_block()):
                return

    def _enter_block(self) -> bool:
        """Look at the beginning of what is held; returns whether there is more to look at."""
        self._held = self._held.lstrip(_BLANK)
        start = self._held[:_LONGEST_TAG].lower()
        opening = next((tag for tag in REASONING_TAGS if start.startswith(tag)), None)
        if opening is not None:
            self._closing = REASONING_TAGS[opening]
            self._held = self._held[len(opening) :]
            return True
        if not any(tag.startswith(start) for tag in REASONING_TAGS):  # nothing at all may still become a tag
            self._is_answer = True
            self._on_text(self._held)
        return False

    def _skip_block(self) -> bool:
        """Drop what is held up to the closing tag; returns whether the tag was there."""
        tag = re.search(re.escape(self._closing), self._held, re.IGNORECASE)
        if tag is None:
            # The tag may be cut, so its beginning is kept; keeping more would make long reasoning dear.
            self._held = self._held[1 - len(self._closing) :]
            return False
        self._held = self._held[tag.end() :]
        self._closing = ""
        return True
