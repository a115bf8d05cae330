"""How the product logs: one event per record on standard error, ids and codes only, never a text or a key.

Our own messages are written ``logger.warning("event key=%s other=%s", ...)``: the message's template names the event
and its fields, so that the same call serves both formats, a line for people and a JSON object for collectors.
"""

import copy
import json
import logging
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Final

ErrorInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
Ids = MappingProxyType[str, int]

# The grammar of our own messages: an event, its fields, and perhaps frames on lines of their own.
EVENT: Final = re.compile(r"(?P<event>[a-z][a-z0-9_]*)(?P<fields>(?: [a-z][a-z0-9_]*=%s)*)(?P<frames>\n%s)?")
OURS: Final = ("judge", "pillars", "llars")

_NOTHING: Final[Ids] = MappingProxyType({})
_about: ContextVar[Ids] = ContextVar("llars_log_ids", default=_NOTHING)


@contextmanager
def about(**ids: int) -> Iterator[None]:
    """Add ids (session, comparison, worker) to everything that this thread or task logs within the block."""
    token = _about.set(MappingProxyType({**_about.get(), **ids}))
    try:
        yield
    finally:
        _about.reset(token)


class QuietFormatter(logging.Formatter):
    """Shows where an error happened and what kind it is, but not what it says.

    A database quotes the row that it refuses, a parser the text that it cannot read: messages of errors hold texts.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, then the frames of an error."""
        return super().format(_without_words(record))

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line, with the ids of what this thread is at unless the message says them itself."""
        line = super().formatMessage(record)
        ids = " ".join(f"{key}={value}" for key, value in _about.get().items() if f" {key}=" not in line)
        first, *rest = line.split("\n", 1)
        return "\n".join([f"{first} {ids}", *rest]) if ids else line

    def formatException(self, ei: ErrorInfo) -> str:
        """The frames, and the names of the error and of what caused it."""
        _kind, error, trace = ei
        lines = traceback.format_tb(trace)
        while error is not None:
            lines.append(f"{type(error).__module__}.{type(error).__qualname__}\n")
            error = error.__cause__ or error.__context__
        return "".join(lines).rstrip()


class JsonFormatter(QuietFormatter):
    """One JSON object per record: time (UTC), level, logger, process, event and its fields; as quiet as the line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as JSON on one line."""
        quiet = _without_words(record)
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "process": process_name(),
            "pid": os.getpid(),
            **_about.get(),
            **(_fields(quiet) or {"message": quiet.getMessage()}),
        }
        if quiet.exc_info:
            entry["frames"] = self.formatException(quiet.exc_info)
        return json.dumps(entry, ensure_ascii=False, default=str)


def _without_words(record: logging.LogRecord) -> logging.LogRecord:
    """A copy of the record that holds nothing of what an error says."""
    quiet = copy.copy(record)
    quiet.exc_text = None  # another handler's formatter may have left the whole message here
    if isinstance(quiet.args, dict) and "exc" in quiet.args:  # Celery quotes the error in its own line
        kind = quiet.exc_info[0] if quiet.exc_info else None
        quiet.args = {**quiet.args, "exc": kind.__name__ if kind else "?", "traceback": ""}
    return quiet


def _fields(record: logging.LogRecord) -> dict[str, Any] | None:
    """Event and fields of one of our own messages, read from its template; None for anybody else's message."""
    template = EVENT.fullmatch(record.msg) if isinstance(record.msg, str) else None
    if template is None or record.name.split(".")[0] not in OURS:
        return None
    names = [field.removesuffix("=%s") for field in template["fields"].split()]
    values = record.args if isinstance(record.args, tuple) else ()
    frames = {"frames": str(values[-1]).rstrip()} if template["frames"] and values else {}
    plain = {name: _plain(value) for name, value in zip(names, values, strict=False)}
    return {"event": template["event"], **plain, **frames}


def _plain(value: object) -> object:
    """Numbers, texts and rows of them as they are; everything else as the line would show it."""
    if value is None or isinstance(value, bool | int | float):
        return value
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else str(value)


def process_name() -> str:
    """What this process is: web, worker, beat, or the name of its command."""
    if not sys.argv:
        return ""
    program, arguments = Path(sys.argv[0]), sys.argv[1:]
    names = {program.name, program.parent.name}  # "python -m celery" runs celery/__main__.py
    if "celery" in names:
        return next((name for name in ("worker", "beat") if name in arguments), "celery")
    if "uvicorn" in names:
        return "web"
    return arguments[0] if program.name == "manage.py" and arguments else program.name


def logging_config(level: str, log_format: str = "line") -> dict[str, Any]:
    """Return the logging dictionary for Django; ``log_format`` is "line" or "json".

    Libraries stay at WARNING whatever the level: an HTTP client logs whole requests at DEBUG, a database driver its
    statements, and both hold thread texts or a key. Ours, Django's and Celery's own loggers follow the level. uvicorn
    names the addresses of sockets at INFO, and some client may put a token into one; its own handler would print what
    errors say, so its lines go the way of all others.
    """
    spoken = {name: {"level": level} for name in (*OURS, "django", "celery")}
    quiet = {name: {"level": "WARNING"} for name in ("django.db.backends", "django.template", "axes")}
    formatters: dict[str, dict[str, str]] = {
        "line": {"()": "llars.logs.QuietFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "llars.logs.JsonFormatter"},
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": formatters,
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": log_format}},
        "root": {"handlers": ["stderr"], "level": "ERROR" if level == "ERROR" else "WARNING"},
        "loggers": {
            **spoken,
            **quiet,
            # Django's own handlers would write beside ours.
            "django": {"level": level, "handlers": [], "propagate": True},
            "uvicorn": {"level": "WARNING", "handlers": [], "propagate": True},
            "uvicorn.error": {"level": "WARNING"},
            "uvicorn.access": {"level": "WARNING"},
        },
    }
