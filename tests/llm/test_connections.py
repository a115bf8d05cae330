"""Clients of providers: kept, and let go of without leaving connections open."""

import gc
from dataclasses import replace

import pytest

from judge.llm import connections
from judge.llm.endpoint import Endpoint
from tests.llm.asking import ask


def test_a_client_that_made_room_for_others_closes_its_connections(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_clients", connections.OrderedDict())
    monkeypatch.setattr(connections, "_MAX_CLIENTS", 1)
    assert ask(replace(endpoint, api_key="example-key-one")).text
    pool = connections.client_for(replace(endpoint, api_key="example-key-one"))._client._transport._pool
    assert len(pool.connections) == 1
    assert ask(replace(endpoint, api_key="example-key-two")).text
    gc.collect()
    assert pool.connections == []
