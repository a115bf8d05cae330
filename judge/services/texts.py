"""Threads as the judge sees them, kept for a few seconds: within a session each is judged again and again."""

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from judge.domain.prompt import PromptMessage, render_thread, suspicious_flags
from judge.domain.rubric import Language
from pillars.models import Message

KEPT_SECONDS = 10.0
MOST_KEPT = 500


@dataclass(frozen=True)
class RenderedThread:
    """A thread's text with speaker roles, and the codes of what is suspicious in it."""

    text: str
    flags: frozenset[str]


_lock = threading.Lock()
_kept: OrderedDict[tuple[int, Language], tuple[float, RenderedThread]] = OrderedDict()


def rendered_threads(thread_ids: tuple[int, int], language: Language) -> tuple[RenderedThread, RenderedThread]:
    """Both threads in the order given, at most ten seconds old (one query for those that are not at hand)."""
    now = time.monotonic()
    with _lock:
        found = {pk: kept[1] for pk in thread_ids if (kept := _kept.get((pk, language))) and now < kept[0]}
    if missing := [pk for pk in thread_ids if pk not in found]:
        fresh = _read(missing, language)
        found |= fresh
        with _lock:
            for key in [key for key, kept in _kept.items() if kept[0] <= now]:
                del _kept[key]
            _kept.update({(pk, language): (now + KEPT_SECONDS, thread) for pk, thread in fresh.items()})
            while len(_kept) > MOST_KEPT:
                _kept.popitem(last=False)
    return found[thread_ids[0]], found[thread_ids[1]]


def forget_texts() -> None:
    """Keep nothing any longer."""
    with _lock:
        _kept.clear()


def _read(thread_ids: list[int], language: Language) -> dict[int, RenderedThread]:
    messages: dict[int, list[PromptMessage]] = {pk: [] for pk in thread_ids}
    rows = Message.objects.filter(thread_id__in=thread_ids).order_by("thread_id", "position")
    for thread_id, role, content in rows.values_list("thread_id", "role", "content"):
        messages[thread_id].append(PromptMessage(role=role, content=content))  # type: ignore[arg-type]
    return {
        pk: RenderedThread(
            text=render_thread(written, language),
            flags=frozenset(flag for message in written for flag in suspicious_flags(message.content)),
        )
        for pk, written in messages.items()
    }
