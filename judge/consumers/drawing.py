"""Parts of the pages as the sockets send them, drawn once per process and language however many people watch."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

from channels.db import database_sync_to_async
from django.http import HttpRequest
from django.utils import translation

from judge import partials
from judge.consumers.streams import Shown, shown_by
from judge.models import JudgeSession
from judge.selectors.lanes import Lane

# A part with what each of its lanes shows.
Drawn = tuple[str, dict[int, Shown]]


def page_language(scope: dict[str, Any]) -> str:
    """The language that the person's pages have: by the same cookie and header, and the same rules."""
    request = HttpRequest()
    request.COOKIES = scope.get("cookies", {})
    accepted = dict(scope.get("headers", [])).get(b"accept-language", b"")
    request.META["HTTP_ACCEPT_LANGUAGE"] = accepted.decode("latin-1")
    return translation.get_language_from_request(request)


class SessionDrawing:
    """The live page of one session in one language.

    Whoever asks gets a part that began to be drawn after the question, so it holds what the asker was told of; people
    who ask at the same moment share it.
    """

    def __init__(self, session_id: int, language: str) -> None:
        self._session_id = session_id
        self._language = language
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._kept: dict[str, tuple[float, Drawn | None]] = {}

    async def part(self, name: str) -> Drawn | None:
        """A part by name: state, actions, actions-edit, progress, queue, history, lanes, or the number of a lane.

        None when the session is gone.
        """
        clock = asyncio.get_running_loop().time
        asked = clock()
        async with self._locks[name]:
            begun, drawn = self._kept.get(name, (-1.0, None))
            if begun <= asked:
                begun = clock()
                drawn = await database_sync_to_async(self._draw)(name)
                self._kept[name] = (begun, drawn)
        return drawn

    def _draw(self, name: str) -> Drawn | None:
        sessions = JudgeSession.objects.select_related("owner", "rubric", "prompt_version")
        session = sessions.filter(pk=self._session_id).first()
        if session is None:
            return None
        with translation.override(self._language):
            if name == "lanes":
                return _lanes(session, partials.read_lanes(session))
            if name.isdigit():
                return _lanes(session, partials.read_lanes(session, {int(name)}))
            return PARTS[name](session), {}


def _lanes(session: JudgeSession, lanes: list[Lane]) -> Drawn:
    text = "".join(partials.one_lane(session, lane) for lane in lanes)
    return text, {lane.worker_id: shown_by(lane) for lane in lanes}


PARTS: dict[str, Callable[[JudgeSession], str]] = {
    "state": partials.state,
    "actions": lambda session: partials.actions(session, can_edit=False),
    "actions-edit": lambda session: partials.actions(session, can_edit=True),
    "progress": partials.progress_bar,
    "queue": partials.queue_panel,
    "history": partials.history_panel,
}

_drawings: WeakValueDictionary[tuple[int, int, str], SessionDrawing] = WeakValueDictionary()


def session_drawing(session_id: int, language: str) -> SessionDrawing:
    """The drawing that all watchers of a session share who read the same language; it goes with the last of them."""
    key = (id(asyncio.get_running_loop()), session_id, language)
    drawing = _drawings.get(key)
    if drawing is None:
        drawing = _drawings[key] = SessionDrawing(session_id, language)
    return drawing
