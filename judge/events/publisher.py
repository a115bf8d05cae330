"""Sending events from any thread of any process, through Redis publish/subscribe."""

import json
import logging
import time
from collections.abc import Iterable
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
        settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1, max_connections=64, retry=None
    )


class _Silence:
    """Remembers that Redis was just unreachable, so that each lane does not wait for it at every piece of text."""

    until = 0.0


def publish(*news: Event) -> list[int] | None:
    """Publish events in one round trip and return their seqs; None when Redis is away.

    Watchers then read the database: a lost event costs freshness only.
    """
    if time.monotonic() < _Silence.until:
        return None
    try:
        with _client().pipeline(transaction=False) as pipeline:
            for event in news:
                keys, arguments = _command(event)
                pipeline.eval(_PUBLISH, len(keys), *keys, *arguments)
            return [int(seq) for seq in pipeline.execute()]
    except redis.RedisError as error:
        _Silence.until = time.monotonic() + PAUSE_AFTER_ERROR
        logger.warning("event_not_published type=%s error=%s", news[0].type, type(error).__name__)
        return None


def _command(event: Event) -> tuple[list[str], list[str | int]]:
    """Keys and arguments of the publishing script for one event."""
    keys = [SEQ_KEY.format(event.session_id)]
    body = json.dumps(event.payload(), ensure_ascii=False, separators=(",", ":"))
    channel = SESSION_CHANNEL.format(event.session_id)
    if isinstance(event, LLMStream):
        keys.append(PARTIAL_KEY.format(event.comparison_id, event.claim_token))
        return keys, [SEQ_SECONDS, body, channel, "", event.offset, event.token, PARTIAL_SECONDS]
    return keys, [SEQ_SECONDS, body, channel, OVERVIEW_CHANNEL]


def partial_answer(comparison_id: int, claim_token: str) -> str:
    """The answer of a running comparison as far as it was published; empty when unknown or when Redis is away."""
    if time.monotonic() < _Silence.until:
        return ""
    try:
        value = _client().get(PARTIAL_KEY.format(comparison_id, claim_token))
    except redis.RedisError:
        _Silence.until = time.monotonic() + PAUSE_AFTER_ERROR
        return ""
    return cast(bytes, value).decode(errors="replace") if value else ""


def forget_partial_answers(answers: Iterable[tuple[int, str]]) -> None:
    """Remove the texts of finished answers, each given as (comparison id, claim token)."""
    if time.monotonic() < _Silence.until:
        return
    try:
        _client().delete(*(PARTIAL_KEY.format(*answer) for answer in answers))
    except redis.RedisError:
        return
