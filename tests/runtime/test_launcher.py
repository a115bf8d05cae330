"""``python -m tests``: what it finds, what it counts, and that it leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from llars.embedded.processes import Supervisor
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


def test_no_test_executed_is_a_failure_unless_a_part_was_asked_for(tmp_path: Path) -> None:
    nothing = tmp_path / "test_nothing.py"
    nothing.touch()
    arguments = [str(nothing), "-q", "-p", "no:cacheprovider"]
    for may_be_empty in (False, True):
        steps = launcher.Steps(tmp_path)
        steps.pytest("nothing", arguments, dict(os.environ), may_be_empty)
        assert steps.failed is not may_be_empty
