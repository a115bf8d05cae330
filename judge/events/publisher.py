"""Sending events from any thread of any process, through Redis publish/subscribe."""

import json
import logging
from collections.abc import Iterable
from functools import cache
from typing import cast

import redis
from django.conf import settings
from redis.commands.core import Script

from judge.events.payloads import Event, LLMStream
from judge.events.silence import Silence

logger = logging.getLogger(__name__)

SESSION_CHANNEL = "llars:session:{}"
OVERVIEW_CHANNEL = "llars:overview"
PARTIAL_KEY = "llars:partial:{}:{}"
SEQ_KEY = "llars:seq:{}"
PARTIAL_SECONDS = 900
SEQ_SECONDS = 7 * 24 * 3600

# Numbering and publishing in one step: two workers can never publish in another order than they were numbered. One call
# for all events at hand, since each command costs its sender more than Redis. Per event: the keys of its number and of
# the answer so far (empty: none), and five arguments; keys beyond those are removed.
_PUBLISH = """
local seqs = {}
for n = 0, (#ARGV - 2) / 5 - 1 do
  local seq_key, partial_key, at = KEYS[2 * n + 1], KEYS[2 * n + 2], 5 * n + 3
  local seq = redis.call('INCR', seq_key)
  redis.call('EXPIRE', seq_key, ARGV[1])
  local message = '{"seq":' .. seq .. ',' .. string.sub(ARGV[at], 2)
  redis.call('PUBLISH', ARGV[at + 1], message)
  if ARGV[at + 2] ~= '' then redis.call('PUBLISH', ARGV[at + 2], message) end
  if partial_key ~= '' then
    if ARGV[at + 3] == '0' then redis.call('SET', partial_key, ARGV[at + 4], 'EX', ARGV[2])
    else redis.call('APPEND', partial_key, ARGV[at + 4]); redis.call('EXPIRE', partial_key, ARGV[2]) end
  end
  seqs[n + 1] = seq
end
for n = 2 * #seqs + 1, #KEYS do redis.call('DEL', KEYS[n]) end
return seqs
"""


@cache
def _client() -> redis.Redis:
    """One pool per process. Short time-outs: a dead Redis must not hold up a verdict."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1, max_connections=64, retry=None
    )


def _script() -> Script:
    return _client().register_script(_PUBLISH)


def publish(*news: Event, forget: Iterable[tuple[int, str]] = ()) -> list[int] | None:
    """Publish events in one round trip and return their seqs; None when Redis is away.

    Watchers then read the database: a lost event costs freshness only. ``forget`` names finished answers, each as
    (comparison id, claim token), whose texts are removed from Redis after the events.
    """
    if Silence.is_kept():
        return None
    keys: list[str] = []
    arguments: list[str | int] = [SEQ_SECONDS, PARTIAL_SECONDS]
    for event in news:
        _add(event, keys, arguments)
    keys.extend(PARTIAL_KEY.format(*answer) for answer in forget)
    try:
        return [int(seq) for seq in _script()(keys, arguments)]
    except redis.RedisError as error:
        Silence.begin()
        logger.warning("event_not_published count=%s error=%s", len(news), type(error).__name__)
        return None


def _add(event: Event, keys: list[str], arguments: list[str | int]) -> None:
    """Add one event's keys and arguments for the publishing script."""
    body = json.dumps(event.payload(), ensure_ascii=False, separators=(",", ":"))
    keys.append(SEQ_KEY.format(event.session_id))
    channel = SESSION_CHANNEL.format(event.session_id)
    if isinstance(event, LLMStream):
        keys.append(PARTIAL_KEY.format(event.comparison_id, event.claim_token))
        arguments += (body, channel, "", event.offset, event.token)
    else:
        keys.append("")
        arguments += (body, channel, OVERVIEW_CHANNEL, "", "")


def partial_answer(comparison_id: int, claim_token: str) -> str:
    """The answer of a running comparison as far as it was published; empty when unknown or when Redis is away."""
    if Silence.is_kept():
        return ""
    try:
        value = _client().get(PARTIAL_KEY.format(comparison_id, claim_token))
    except redis.RedisError:
        Silence.begin()
        return ""
    return cast(bytes, value).decode(errors="replace") if value else ""
