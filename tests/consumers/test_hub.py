"""The hub: watchers come and go quickly, and whoever stays hears everything."""

import asyncio

import redis

from judge.events.hub import Hub

CHANNEL = "llars:session:4711"
MESSAGE = '{"type":"judge:progress","seq":1}'


async def test_watchers_that_come_and_go_never_silence_the_hub(redis_client: redis.Redis) -> None:
    hub = Hub()
    for _ in range(60):
        async with asyncio.timeout(20):
            passing = await hub.subscribe(CHANNEL)
            await hub.unsubscribe(passing)
    staying = await hub.subscribe(CHANNEL)
    try:
        async with asyncio.timeout(20):
            # A publication before Redis has seen the subscription is lost by design: watchers read the snapshot then.
            while not redis_client.publish(CHANNEL, MESSAGE):  # noqa: ASYNC110  Redis has no event for this
                await asyncio.sleep(0.01)
            heard = await staying.get()
    finally:
        await hub.unsubscribe(staying)
    assert [event["seq"] for event in heard if "seq" in event][:1] == [1]
