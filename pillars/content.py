"""What makes two exchanges the same, and how long they are. Pure."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

COUNSELLOR = "counsellor"
CLIENT = "client"


class Letter(Protocol):
    """Anything with a role and a text: a message of a file or of the database."""

    @property
    def role(self) -> str: ...

    @property
    def content(self) -> str: ...


@dataclass(frozen=True)
class Size:
    """Length of a thread: messages, and words of all, of the counsellors and of the clients."""

    messages: int
    words: int
    counsellor_words: int
    client_words: int


def content_hash(subject: str, messages: Iterable[Letter]) -> str:
    """The identity of an exchange: 64 hexadecimal digits of SHA-256 over subject, roles and contents, in order.

    Ids, senders and times do not count, nor how a line ends: the same letters are the same thread in every file.
    """
    letters = [[message.role, _unix_lines(message.content)] for message in messages]
    text = json.dumps([_unix_lines(subject), letters], ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def count_words(text: str) -> int:
    """Words as whitespace separates them."""
    return len(text.split())


def measure(messages: Iterable[Letter]) -> Size:
    """The length of an exchange; the subject does not count."""
    count = 0
    words = {COUNSELLOR: 0, CLIENT: 0}
    for message in messages:
        count += 1
        words[message.role] += count_words(message.content)
    return Size(count, sum(words.values()), words[COUNSELLOR], words[CLIENT])


def _unix_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
