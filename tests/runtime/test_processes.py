"""The supervisor: readiness, restart, and that nothing outlives it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from llars.embedded.processes import MAX_RESTARTS, Program, ProgramFailed, Supervisor
from tests.runtime.liveness import eventually, is_running

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal,sys,time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)",
)
PARENT = """
import sys, time
from collections.abc import Iterator
from pathlib import Path
from llars.embedded.processes import Program, Supervisor
supervisor = Supervisor(Path(sys.argv[1]), Path(sys.argv[1]), use_guard=sys.argv[2] == "guard")
supervisor.start(Program("child", (sys.executable, "-c", {code!r})))
print(supervisor.pids()["child"], flush=True)
time.sleep(600)
"""
TELLS_ITS_PID = (
    "import os,time; open('pid', 'w').write(str(os.getpid())); os.rename('pid', 'child.pid'); time.sleep(600)"
)


def tend_until_failure(supervisor: Supervisor, lines: list[str]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        lines += supervisor.tend()
        time.sleep(0.02)


@pytest.fixture(params=["kernel", "guard"])
def supervisor(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Supervisor]:
    if request.param == "kernel" and sys.platform != "linux":
        pytest.skip("only Linux has a death signal")
    made = Supervisor(tmp_path / "logs", tmp_path, use_guard=request.param == "guard")
    yield made
    made.stop()


def test_stop_ends_every_child_last_started_first(supervisor: Supervisor, tmp_path: Path) -> None:
    order: list[str] = []
    for name in ("first", "second"):
        supervisor.start(Program(name, SLEEPER, after=lambda name=name: order.append(name)))
    pids = supervisor.pids()
    assert set(pids) == {"first", "second"}
    supervisor.stop()
    assert order == ["second", "first"]
    assert not any(is_running(pid) for pid in pids.values())


def test_a_child_that_ignores_the_polite_signal_is_killed_after_its_grace(
    supervisor: Supervisor, tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "stubborn.log"
    supervisor.start(Program("stubborn", STUBBORN, grace_seconds=0.3, ready=lambda: "up" in log.read_text()))
    pid = supervisor.pids()["stubborn"]
    supervisor.stop()
    assert not is_running(pid)


def test_in_a_hurry_nothing_is_waited_for(supervisor: Supervisor, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "stubborn.log"
    supervisor.start(Program("stubborn", STUBBORN, grace_seconds=600, ready=lambda: "up" in log.read_text()))
    supervisor.hurry = True
    before = time.monotonic()
    supervisor.stop()
    assert time.monotonic() - before < 60


def test_grandchildren_go_with_their_group(supervisor: Supervisor, tmp_path: Path) -> None:
    code = f"import subprocess,sys,time; subprocess.Popen([sys.executable, '-c', {TELLS_ITS_PID!r}]); time.sleep(600)"
    written = tmp_path / "child.pid"
    supervisor.start(Program("family", (sys.executable, "-c", code), ready=written.exists))
    grandchild = int(written.read_text())
    supervisor.stop()
    assert eventually(lambda: not is_running(grandchild))


def test_a_crashed_child_is_started_again_and_a_crash_loop_is_given_up(supervisor: Supervisor) -> None:
    supervisor.start(Program("crasher", (sys.executable, "-c", "raise SystemExit('boom')"), restart=True))
    lines: list[str] = []
    with pytest.raises(ProgramFailed, match=r"(?s)crasher ended unexpectedly.*boom") as failure:
        tend_until_failure(supervisor, lines)
    assert len(lines) == MAX_RESTARTS
    assert "crasher.log" in str(failure.value)


def test_a_child_that_must_not_end_is_reported_with_the_end_of_its_log(supervisor: Supervisor) -> None:
    supervisor.start(Program("once", (sys.executable, "-c", "print('last words')")))
    with pytest.raises(ProgramFailed, match="last words"):
        tend_until_failure(supervisor, [])


def test_a_child_that_ends_before_it_is_ready_is_reported(supervisor: Supervisor) -> None:
    with pytest.raises(ProgramFailed, match="ended before it was ready"):
        supervisor.start(Program("early", (sys.executable, "-c", "pass"), ready=lambda: False))


def test_a_child_that_is_never_ready_is_reported(supervisor: Supervisor) -> None:
    with pytest.raises(ProgramFailed, match="was not ready"):
        supervisor.start(Program("slow", SLEEPER, ready=lambda: False, ready_seconds=0.2))


def test_a_command_that_does_not_exist_is_reported(supervisor: Supervisor) -> None:
    with pytest.raises(ProgramFailed, match="cannot start /nowhere/program"):
        supervisor.start(Program("missing", ("/nowhere/program",), ready=lambda: False))


@pytest.mark.parametrize("way", ["kernel", "guard"])
def test_children_die_when_their_parent_is_killed(way: str, tmp_path: Path) -> None:
    if way == "kernel" and sys.platform != "linux":
        pytest.skip("only Linux has a death signal")
    code = PARENT.format(code=TELLS_ITS_PID)
    command = [sys.executable, "-c", code, str(tmp_path), way]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ}) as parent:
        assert parent.stdout is not None
        tethered = int(parent.stdout.readline())
        assert eventually((tmp_path / "child.pid").exists)
        child = int((tmp_path / "child.pid").read_text())
        assert is_running(child)
        parent.send_signal(signal.SIGKILL)
    assert eventually(lambda: not is_running(child))
    assert eventually(lambda: not is_running(tethered))
