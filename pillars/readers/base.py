"""What a reader hands over: threads with their row, and problems that name row, field and rule but no text."""

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext_lazy as _

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_THREAD_BYTES = 4 * 1024 * 1024
MAX_THREADS = 100_000
MAX_PROBLEMS = 100
WHOLE_FILE = 0


class ProblemCode(StrEnum):
    """Why a file, or one thread of it, is not taken."""

    EMPTY_FILE = "empty_file"
    FILE_TOO_LARGE = "file_too_large"
    UNKNOWN_FORMAT = "unknown_format"
    NOT_UTF8 = "not_utf8"
    INVALID_JSON = "invalid_json"
    DUPLICATE_KEY = "duplicate_key"
    TOO_DEEP = "too_deep"
    THREAD_TOO_LARGE = "thread_too_large"
    TOO_MANY_THREADS = "too_many_threads"
    NO_THREADS = "no_threads"
    NO_SUCH_LABEL = "no_such_label"
    DUPLICATE_ID = "duplicate_id"
    ID_KNOWN = "id_known"
    MISSING = "missing"
    NOT_AN_OBJECT = "not_an_object"
    NOT_A_LIST = "not_a_list"
    NOT_A_TEXT = "not_a_text"
    EMPTY = "empty"
    TOO_LONG = "too_long"
    NO_MESSAGES = "no_messages"
    UNKNOWN_ROLE = "unknown_role"
    UNKNOWN_LANGUAGE = "unknown_language"
    INVALID_TIME = "invalid_time"
    INVALID_NUMBER = "invalid_number"
    FORBIDDEN_CHARACTER = "forbidden_character"
    INVALID = "invalid"
    STOPPED = "stopped"


_MESSAGES = {
    ProblemCode.EMPTY_FILE: _("The file is empty."),
    ProblemCode.FILE_TOO_LARGE: _("The file is larger than %(megabytes)d MB."),
    ProblemCode.UNKNOWN_FORMAT: _("The file is not a JSON list of threads and not a JSON object with one thread."),
    ProblemCode.NOT_UTF8: _("The text is not encoded in UTF-8 (line %(line)d)."),
    ProblemCode.INVALID_JSON: _("Not valid JSON at line %(line)d, column %(column)d."),
    ProblemCode.DUPLICATE_KEY: _("An object holds the same key twice."),
    ProblemCode.TOO_DEEP: _("The values are nested too deeply."),
    ProblemCode.THREAD_TOO_LARGE: _("The thread is larger than %(megabytes)d MB."),
    ProblemCode.TOO_MANY_THREADS: _("The file holds more than %(limit)d threads."),
    ProblemCode.NO_THREADS: _("The file holds no threads."),
    ProblemCode.NO_SUCH_LABEL: _("No thread of the file has this label."),
    ProblemCode.DUPLICATE_ID: _("The id is already used by thread %(row)d of this file."),
    ProblemCode.ID_KNOWN: _("The pillar already holds this id with another text."),
    ProblemCode.MISSING: _("This field is missing."),
    ProblemCode.NOT_AN_OBJECT: _("A JSON object is expected."),
    ProblemCode.NOT_A_LIST: _("A list is expected."),
    ProblemCode.NOT_A_TEXT: _("A text is expected."),
    ProblemCode.EMPTY: _("This field must not be empty."),
    ProblemCode.TOO_LONG: _("More than %(limit)d characters or entries."),
    ProblemCode.NO_MESSAGES: _("A thread needs at least one message."),
    ProblemCode.UNKNOWN_ROLE: _("The role must be counsellor or client."),
    ProblemCode.UNKNOWN_LANGUAGE: _("The language must be de or en."),
    ProblemCode.INVALID_TIME: _("A date and time in ISO 8601 form, in the years 1900 to 2200, is expected."),
    ProblemCode.INVALID_NUMBER: _("A number is not finite or too long."),
    ProblemCode.FORBIDDEN_CHARACTER: _(
        "The text holds a character that cannot be stored (NUL or half a surrogate pair)."
    ),
    ProblemCode.INVALID: _("This value is not valid."),
    ProblemCode.STOPPED: _("Reading stopped here: too many problems."),
}


@dataclass(frozen=True)
class Problem:
    """One rule that one place of the file breaks.

    ``row`` is the thread's place in the file from 1, or 0 for the file as a whole; ``field`` is a dotted path such as
    ``messages.0.role``, or empty. No value of the file is ever part of it.
    """

    row: int
    field: str
    code: ProblemCode
    params: dict[str, int] = dataclasses.field(default_factory=dict)

    @property
    def message(self) -> str:
        """The rule in the reader's language."""
        return str(_MESSAGES[self.code]) % self.params

    def as_dict(self) -> dict[str, Any]:
        """For storage and for the API."""
        return {"row": self.row, "field": self.field, "message": self.message, "code": str(self.code)}


@dataclass(frozen=True)
class ReadMessage:
    """One e-mail. ``sent_at`` has no time zone where the file gives none."""

    role: str
    content: str
    sender: str = ""
    sent_at: datetime | None = None


@dataclass(frozen=True)
class ReadThread:
    """One exchange as the file gives it; ``row`` counts from 1, ``metadata`` holds keys the format does not name."""

    row: int
    external_id: str
    subject: str
    language: str | None
    pillar_label: str | None
    messages: tuple[ReadMessage, ...]
    metadata: dict[str, Any]


@dataclass(frozen=True)
class ReadResult:
    """All of a file. With any problem the threads are incomplete and must not be used."""

    format: str
    threads: tuple[ReadThread, ...]
    problems: tuple[Problem, ...]
