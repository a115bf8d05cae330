"""``python -m tests``: what it finds, what it counts, and that it leaves nothing behind."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from llars.embedded.processes import Supervisor
from tests.runtime.liveness import eventually, is_running
from tests.services import browser, launcher, postgres
from tests.services.results import Counts, read_report

ROOT = Path(__file__).resolve().parents[2]
LEAVES_A_CHILD = """
import subprocess, sys
from tests.services import reaper
reaper.adopt_orphans()
sleeper = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], stdout=subprocess.DEVNULL)"
code = f"import subprocess, sys; print({sleeper}.pid)"
orphan = int(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)
print(orphan, reaper.end_orphans(spare=set()))
"""


def test_the_newest_postgres_outside_path_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("9", "15", "17"):
        directory = tmp_path / version / "bin"
        directory.mkdir(parents=True)
        for name in ("initdb", "postgres"):
            (directory / name).touch()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert postgres.find_binaries((f"{tmp_path}/*/bin",)) == tmp_path / "17" / "bin"


def test_a_missing_postgres_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(postgres.PostgresNotFound, match="apt-get install postgresql"):
        postgres.find_binaries((f"{tmp_path}/*/bin",))


def test_a_missing_browser_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(browser.ChromiumNotFound, match="apt-get install chromium"):
        browser.find()


def test_a_throw_away_postgres_answers_and_is_gone_when_stopped(tmp_path: Path) -> None:
    try:
        postgres.find_binaries()
    except postgres.PostgresNotFound as error:
        pytest.skip(str(error))
    with launcher.scratch_directory() as scratch:
        supervisor = Supervisor(scratch / "logs", ROOT)
        try:
            url = launcher.start_postgres(supervisor, scratch)["LLARS_DATABASE_URL"]
            assert postgres.answers(url)
        finally:
            supervisor.stop()
        assert not postgres.answers(url)
    assert not scratch.exists()


def test_reports_are_counted_and_errors_are_failures(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="2" skipped="3"/></testsuites>')
    assert read_report(report) == Counts(passed=3, failed=3, skipped=3)
    assert (read_report(report) + Counts(1, 0, 0)).line() == "4 passed, 3 failed, 3 skipped"


def test_a_broken_off_run_counts_as_nothing(tmp_path: Path) -> None:
    assert read_report(tmp_path / "missing.xml") == Counts()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux hands orphans to a chosen ancestor")
def test_processes_that_tests_left_behind_are_ended() -> None:
    command = [sys.executable, "-c", LEAVES_A_CHILD]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    orphan, ended = output.splitlines()[-1].split()
    assert ended == "1"
    assert not Path(f"/proc/{orphan}").exists()


def test_the_developers_own_settings_do_not_reach_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLARS_LLM_API_KEY", "a-developers-key")
    missing = {"Chromium": "is not installed"}
    made = launcher.environment(tmp_path, launcher.Services({"LLARS_REDIS_URL": "redis://example"}, missing))
    assert "LLARS_LLM_API_KEY" not in made
    assert made["LLARS_REDIS_URL"] == "redis://example"
    assert made["LLARS_TEST_NO_CHROMIUM"] == "is not installed"
    assert made["PATH"] == os.environ["PATH"]


def test_a_check_that_fails_is_named_with_what_it_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    steps = launcher.Steps(tmp_path)
    checks = (("good", ("python", "-c", "print('all well')")), ("bad", ("python", "-c", "raise SystemExit('a fault')")))
    with steps.checks_beside(checks, dict(os.environ)):
        print("in the foreground", flush=True)
    assert steps.failed
    assert [line.split() for line in steps.lines] == [["ok", "good"], ["FAILED", "bad"]]
    said = capfd.readouterr().out
    assert re.search(r"in the foreground\s+=== good\s+all well\s+=== bad\s+a fault", said)


def test_a_check_does_not_outlive_a_run_that_was_broken_off(tmp_path: Path) -> None:
    steps, pid = launcher.Steps(tmp_path), tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(600)"

    def break_off() -> None:
        with steps.checks_beside((("endless", ("python", "-c", code)),), dict(os.environ)):
            assert eventually(lambda: pid.exists() and bool(pid.read_text()))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert not is_running(int(pid.read_text()))
    assert steps.lines == []


def test_the_files_of_the_queue_are_those_that_carry_its_mark() -> None:
    assert "tests/queue/test_claims.py" in launcher.queue_files()
    assert "tests/domain/test_states.py" not in launcher.queue_files()


def test_no_test_executed_is_a_failure_unless_a_part_was_asked_for(tmp_path: Path) -> None:
    nothing = tmp_path / "test_nothing.py"
    nothing.touch()
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\n")
    # In one process and without the project: it would take ten times as long to find nothing.
    arguments = [str(nothing), "-q", "-p", "no:cacheprovider", "-p", "no:django", "-c", str(settings), "-n", "0"]
    for may_be_empty in (False, True):
        steps = launcher.Steps(tmp_path)
        steps.pytest("nothing", arguments, dict(os.environ), may_be_empty)
        assert steps.failed is not may_be_empty
