from collections.abc import Iterator

import pytest

from judge.llm.endpoint import Endpoint
from judge.simulated.quality import QualityIndex
from judge.simulated.server import SimulatedServer
from tests.llm.asking import THREAD_A, THREAD_B, endpoint_of


@pytest.fixture(scope="module")
def running_server() -> Iterator[SimulatedServer]:
    with SimulatedServer(index=QualityIndex({THREAD_A: 0.9, THREAD_B: 0.1})) as server:
        yield server


@pytest.fixture
def server(running_server: SimulatedServer) -> SimulatedServer:
    running_server.reset()
    return running_server


@pytest.fixture
def endpoint(server: SimulatedServer) -> Endpoint:
    return endpoint_of(server)
