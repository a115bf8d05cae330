"""Data directory, secrets, ports and the way out."""

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from llars.embedded import ports, secrets
from llars.embedded.data_dir import DataDir, DataDirBusy, DataDirUnusable
from llars.embedded.stopping import Stopped, StopSignals
from llars.env import Environment

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])


def test_a_port_asked_for_by_name_must_be_free(busy_port: int) -> None:
    with pytest.raises(ports.PortBusy, match=rf"Port {busy_port} .* is in use. Set LLARS_PORT"):
        ports.choose(busy_port, explicit=True)


def test_the_next_free_port_is_taken_when_none_was_asked_for(busy_port: int) -> None:
    assert ports.choose(busy_port, explicit=False) > busy_port


def test_secrets_are_made_once_and_are_for_this_user_alone(tmp_path: Path) -> None:
    first = secrets.ensure(tmp_path)
    assert secrets.ensure(tmp_path) == first == secrets.read(tmp_path)
    assert stat.S_IMODE((tmp_path / secrets.FILE).stat().st_mode) == 0o600
    assert secrets.ensure(tmp_path / "other")["LLARS_SECRET_KEY"] != first["LLARS_SECRET_KEY"]


def test_kept_secrets_are_what_the_settings_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("LLARS_")]:
        monkeypatch.delenv(name)
    kept = secrets.ensure(tmp_path)
    found = Environment(_env_file=tmp_path / secrets.FILE)
    assert found.secret_key.get_secret_value() == kept["LLARS_SECRET_KEY"]
    assert [key.get_secret_value() for key in found.field_keys] == [kept["LLARS_FIELD_KEYS"]]


def test_a_value_that_would_break_the_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="quote or a line break"):
        secrets.write(tmp_path, {"LLARS_LLM_MODEL": "it's"})


def test_passwords_differ_and_are_long() -> None:
    drawn = {secrets.password() for _ in range(100)}
    assert len(drawn) == 100
    assert {len(word) for word in drawn} == {23}


def test_a_data_directory_has_one_run_at_a_time_and_is_closed_to_others(tmp_path: Path) -> None:
    with DataDir(tmp_path / "data") as data:
        assert stat.S_IMODE(data.path.stat().st_mode) == 0o700
        with pytest.raises(DataDirBusy, match=f"process {os.getpid()}"), DataDir(tmp_path / "data"):
            pass
    with DataDir(tmp_path / "data"):
        pass


def test_the_lock_falls_with_a_killed_process(tmp_path: Path) -> None:
    code = "import os, sys; from pathlib import Path; from llars.embedded.data_dir import DataDir\n"
    code += "with DataDir(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    killed = subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert killed.returncode == -signal.SIGKILL
    with DataDir(tmp_path):
        pass


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_stops_and_the_next_ones_hurry(number: signal.Signals) -> None:
    hurried: list[bool] = []
    before = signal.getsignal(number)
    with StopSignals(lambda: hurried.append(True)):
        with pytest.raises(Stopped, match=number.name):
            os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
    assert hurried == [True]
    assert signal.getsignal(number) == before


def test_shielded_nothing_breaks_the_clearing_up_off() -> None:
    hurried: list[bool] = []
    with StopSignals(lambda: hurried.append(True)) as signals:
        signals.shield()
        os.kill(os.getpid(), signal.SIGTERM)
    assert hurried == [True]


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_data_directory_that_cannot_be_made_is_said_plainly(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataDirUnusable, match="LLARS_DATA_DIR"):
        DataDir(tmp_path / place)


def test_a_host_that_is_no_address_of_this_machine_is_not_called_a_busy_port() -> None:
    with pytest.raises(ports.HostUnusable, match="LLARS_HOST"):
        ports.choose(8000, explicit=True, host="192.0.2.1")


def test_a_port_that_no_port_can_be_is_not_free() -> None:
    assert not ports.is_free(99_999)
