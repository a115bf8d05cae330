"""How the product logs: one line per event on standard error, ids and codes only, never a text or a key."""

import copy
import logging
import traceback
from types import TracebackType
from typing import Any

ErrorInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


class QuietFormatter(logging.Formatter):
    """Shows where an error happened and what kind it is, but not what it says.

    A database quotes the row that it refuses, a parser the text that it cannot read: messages of errors hold texts.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line, then the frames of an error."""
        quiet = copy.copy(record)
        quiet.exc_text = None  # another handler's formatter may have left the whole message here
        if isinstance(quiet.args, dict) and "exc" in quiet.args:  # Celery quotes the error in its own line
            kind = quiet.exc_info[0] if quiet.exc_info else None
            quiet.args = {**quiet.args, "exc": kind.__name__ if kind else "?", "traceback": ""}
        return super().format(quiet)

    def formatException(self, ei: ErrorInfo) -> str:
        """The frames, and the names of the error and of what caused it."""
        _kind, error, trace = ei
        lines = traceback.format_tb(trace)
        while error is not None:
            lines.append(f"{type(error).__module__}.{type(error).__qualname__}\n")
            error = error.__cause__ or error.__context__
        return "".join(lines).rstrip()


def logging_config(level: str) -> dict[str, Any]:
    """Return the logging dictionary for Django.

    httpx and openai log whole requests at DEBUG; they stay at WARNING whatever the level, since a request holds
    thread texts and a key. uvicorn names the addresses of sockets at INFO, and some client may put a token into one;
    its own handler would print what errors say, so its lines go the way of all others.
    """
    quiet: dict[str, dict[str, Any]] = {
        name: {"level": "WARNING"}
        for name in ("httpx2", "httpcore2", "openai", "urllib3", "axes", "uvicorn.error", "uvicorn.access")
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "line": {"()": "llars.logs.QuietFormatter", "format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {**quiet, "uvicorn": {"level": "WARNING", "handlers": [], "propagate": True}},
    }
