"""The one command, with real processes: it shows the planted order, keeps its data and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from llars.embedded.ports import any_free
from pillars.demo.library import demo_threads, planted_quality
from tests.runtime.liveness import eventually, is_running

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 240

pytestmark = pytest.mark.processes


def environment(data: Path) -> dict[str, str]:
    """Like a person's shell: none of the tests' own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLARS_", "DJANGO_"))}
    return {
        **kept,
        "LLARS_DATA_DIR": str(data),
        "LLARS_PORT": str(any_free()),
        "LLARS_ADMIN_PASSWORD": "example-only-1",
    }


def quickstart(data: Path, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "llars.quickstart", *arguments]
    return subprocess.Popen(command, cwd=ROOT, env=environment(data), stdout=subprocess.PIPE, text=True)


def check(data: Path) -> str:
    process = quickstart(data, "--check", "--latency-ms", "20", "--timeout", str(SECONDS))
    output, _ = process.communicate(timeout=SECONDS + 60)
    assert process.returncode == 0, output
    return output


def read_until(process: "subprocess.Popen[str]", *signs: str) -> str:
    """What the run prints up to the first line that holds one of the signs."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if any(sign in line for sign in signs):
            break
    return "".join(lines)


def started(output: str) -> list[int]:
    """Process ids as the quickstart tells them."""
    line = re.search(r"^Started: .*$", output, flags=re.MULTILINE)
    assert line is not None, output
    return [int(pid) for pid in re.findall(r"\((\d+)\)", line[0])]


def planted_order() -> list[int]:
    """Pillar numbers by the mean planted quality of their threads, best first."""
    quality = planted_quality()
    means = {
        number: sum(quality[thread["id"]] for thread in threads) / len(threads)
        for number, threads in demo_threads().items()
    }
    return sorted(means, key=lambda number: -means[number])


def printed_order(output: str) -> list[int]:
    """Pillar numbers in the order of the leaderboard."""
    return [int(number) for number in re.findall(r"^ +\d+ (\d) .*%.*%", output, flags=re.MULTILINE)]


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    data = tmp_path_factory.mktemp("quickstart")
    return data, check(data)


@pytest.fixture(scope="module")
def second_run(first_run: tuple[Path, str]) -> str:
    return check(first_run[0])


@dataclass
class Demo:
    """A run that stays until it is stopped. Its judge is so slow that the demo session is not over soon."""

    data: Path
    process: "subprocess.Popen[str]"
    output: str


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    data = tmp_path_factory.mktemp("demo")
    process = quickstart(data, "--latency-ms", "2000")
    yield Demo(data, process, read_until(process, "Started: "))
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@pytest.fixture
def unfinished(demo: Demo) -> Path:
    """The data of a demo that was killed in the midst of its session."""
    demo.process.kill()
    demo.process.communicate(timeout=60)
    return demo.data


def test_a_check_prints_the_planted_order_and_leaves_no_process(first_run: tuple[Path, str]) -> None:
    _, output = first_run
    assert printed_order(output) == planted_order()
    assert not any(is_running(pid) for pid in started(output))


def test_passwords_are_printed_once_and_a_given_one_never(first_run: tuple[Path, str], second_run: str) -> None:
    _, output = first_run
    assert "example-only-1" not in output
    assert len(re.findall(r"Log in as researcher with the password \S+", output)) == 1
    assert "password" not in second_run


def test_a_second_run_keeps_the_data_and_judges_nothing_again(first_run: tuple[Path, str], second_run: str) -> None:
    _, output = first_run
    assert "Database: as it was left" in second_run
    assert second_run.split(" score ")[1].splitlines()[1:] == output.split(" score ")[1].splitlines()[1:]


def test_the_command_line_judges_beside_a_running_demo(demo: Demo) -> None:
    command = [sys.executable, "manage.py", "judge", "--pillars", "1", "3", "--samples", "2", "--wait"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment(demo.data), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "failed comparisons 0" in done.stdout


def test_a_killed_quickstart_takes_its_processes_with_it(demo: Demo) -> None:
    pids = started(demo.output)
    demo.process.kill()
    demo.process.communicate(timeout=60)
    assert eventually(lambda: not any(is_running(pid) for pid in pids))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_no_process(number: signal.Signals, unfinished: Path) -> None:
    process = quickstart(unfinished, "--latency-ms", "2000")
    output = read_until(process, " comparisons judged", "Running.")
    process.send_signal(number)
    rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0, rest
    assert not any(is_running(pid) for pid in started(output))


def test_a_run_goes_on_where_killed_and_stopped_ones_ended(unfinished: Path) -> None:
    output = check(unfinished)
    assert "Database: as it was left" in output
    assert printed_order(output) == planted_order()


def test_a_busy_port_that_was_asked_for_is_named(tmp_path: Path) -> None:
    code = "import socket, subprocess, sys; s = socket.create_server(('127.0.0.1', 0)); import os\n"
    code += "os.environ['LLARS_PORT'] = str(s.getsockname()[1])\n"
    code += "sys.exit(subprocess.run([sys.executable, '-m', 'llars.quickstart']).returncode)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "is in use. Set LLARS_PORT" in done.stdout
