"""How the product logs: one line per event on standard error, ids and codes only, never a text or a key."""

from typing import Any


def logging_config(level: str) -> dict[str, Any]:
    """Return the logging dictionary for Django.

    httpx and openai log whole requests at DEBUG; they stay at WARNING whatever the level, since a request holds
    thread texts and a key.
    """
    quiet = {name: {"level": "WARNING"} for name in ("httpx2", "httpcore2", "openai", "urllib3", "axes")}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": quiet,
    }
