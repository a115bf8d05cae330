"""Lanes hand their events over and go on; one thread sends them, in order."""

import json
import time

import pytest
import redis

from judge import events
from judge.events.post import Post
from judge.events.publisher import SESSION_CHANNEL


def piece(place: int) -> events.LLMStream:
    return events.LLMStream(
        session_id=4711, worker_id=0, comparison_id=5, claim_token="t", offset=place, token=str(place % 10)
    )


def test_events_arrive_in_the_order_they_were_handed_over(redis_client: redis.Redis) -> None:
    watcher = redis_client.pubsub(ignore_subscribe_messages=True)
    watcher.subscribe(SESSION_CHANNEL.format(4711))
    watcher.get_message(timeout=1)
    post = Post()
    for place in range(300):
        post.send(piece(place))
    post.close()
    heard = []
    while message := watcher.get_message(timeout=0.5):
        heard.append(json.loads(message["data"]))
    watcher.close()
    assert [event["offset"] for event in heard] == list(range(300))
    assert [event["seq"] for event in heard] == list(range(1, 301))
    assert events.partial_answer(5, "t") == "0123456789" * 30
    post.send((5, "t"))
    post.close()
    assert events.partial_answer(5, "t") == ""


def test_handing_over_never_waits_for_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*news: events.Event, forget: object = ()) -> None:
        time.sleep(0.5)

    monkeypatch.setattr("judge.events.post.publish", hangs)
    post = Post()
    began = time.monotonic()
    for place in range(20_000):
        post.send(piece(place))
    # Sending them one by one would have taken hours.
    assert time.monotonic() - began < 5
