"""Sending events from any thread of any process, through Redis publish/subscribe."""

import json
import logging
import time
from functools import cache
from typing import cast

import redis
from django.conf import settings

from judge.events.payloads import Event, LLMStream

logger = logging.getLogger(__name__)

SESSION_CHANNEL = "llars:session:{}"
OVERVIEW_CHANNEL = "llars:overview"
PARTIAL_KEY = "llars:partial:{}:{}"
SEQ_KEY = "llars:seq:{}"
PARTIAL_SECONDS = 900
SEQ_SECONDS = 7 * 24 * 3600
PAUSE_AFTER_ERROR = 1.0

# Numbering and publishing in one step: two workers can never publish in another order than they were numbered.
_PUBLISH = """
local seq = redis.call('INCR', KEYS[1])
redis.call('EXPIRE', KEYS[1], ARGV[1])
local message = '{"seq":' .. seq .. ',' .. string.sub(ARGV[2], 2)
redis.call('PUBLISH', ARGV[3], message)
if ARGV[4] ~= '' then redis.call('PUBLISH', ARGV[4], message) end
if KEYS[2] then
  if ARGV[5] == '0' then redis.call('SET', KEYS[2], ARGV[6], 'EX', ARGV[7])
  else redis.call('APPEND', KEYS[2], ARGV[6]); redis.call('EXPIRE', KEYS[2], ARGV[7]) end
end
return seq
"""


@cache
def _client() -> redis.Redis:
    """One pool per process. Short time-outs: a dead Redis must not hold up a verdict."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=2, max_connections=64, retry=None
    )


class _Silence:
    """Remembers that Redis was just unreachable, so that each lane does not wait for it at every piece of text."""

    until = 0.0


def publish(event: Event) -> int | None:
    """Publish one event and return its seq; None when Redis is away (watchers then read the database)."""
    if time.monotonic() < _Silence.until:
        return None
    keys = [SEQ_KEY.format(event.session_id)]
    overview = "" if isinstance(event, LLMStream) else OVERVIEW_CHANNEL
    body = json.dumps(event.payload(), ensure_ascii=False, separators=(",", ":"))
    arguments: list[str | int] = [SEQ_SECONDS, body, SESSION_CHANNEL.format(event.session_id), overview]
    if isinstance(event, LLMStream):
        keys.append(PARTIAL_KEY.format(event.comparison_id, event.claim_token))
        arguments += [event.offset, event.token, PARTIAL_SECONDS]
    try:
        return int(cast(int, _client().eval(_PUBLISH, len(keys), *keys, *arguments)))
    except redis.RedisError as error:
        _Silence.until = time.monotonic() + PAUSE_AFTER_ERROR
        logger.warning(
            "event_not_published type=%s session=%s error=%s", event.type, event.session_id, type(error).__name__
        )
        return None


def partial_answer(comparison_id: int, claim_token: str) -> str:
    """The answer of a running comparison as far as it was published; empty when unknown or when Redis is away."""
    try:
        value = _client().get(PARTIAL_KEY.format(comparison_id, claim_token))
    except redis.RedisError:
        return ""
    return cast(bytes, value).decode(errors="replace") if value else ""


def forget_partial_answer(comparison_id: int, claim_token: str) -> None:
    """Remove the text of an answer that is finished; it lives in the database now, or was refused."""
    try:
        _client().delete(PARTIAL_KEY.format(comparison_id, claim_token))
    except redis.RedisError:
        return
