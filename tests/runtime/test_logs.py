"""Logs: events with ids, as lines or as JSON, and never what an error says, since that may quote a text."""

import ast
import json
import logging
import logging.config
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from llars.embedded.ports import any_free
from llars.logs import EVENT, JsonFormatter, QuietFormatter, about, logging_config, process_name
from llars.quickstart import programs

ROOT = Path(__file__).resolve().parents[2]
SENTENCE = "a sentence of a letter"


def record_of(error: BaseException, message: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord(
        "example", logging.ERROR, __file__, 1, message, args, (type(error), error, error.__traceback__)
    )


@pytest.fixture
def failed() -> BaseException:
    """An error that was caused by another one, as Django's database errors are."""
    try:
        try:
            raise KeyError(SENTENCE)
        except KeyError as cause:
            raise ValueError(f"Failing row contains ({SENTENCE})") from cause
    except ValueError as error:
        return error


def test_an_error_is_logged_with_its_place_and_kind_but_not_with_its_words(failed: BaseException) -> None:
    line = QuietFormatter("%(message)s").format(record_of(failed, "page failed"))
    assert SENTENCE not in line
    assert "ValueError" in line
    assert "KeyError" in line
    assert "test_logs.py" in line


def test_a_failed_task_is_logged_without_the_words_of_its_error(failed: BaseException) -> None:
    context = {"name": "judge.run_lane", "exc": repr(failed), "traceback": SENTENCE}
    line = QuietFormatter("%(message)s").format(record_of(failed, "Task %(name)s failed: %(exc)s", context))
    assert line.startswith("Task judge.run_lane failed: ValueError")
    assert SENTENCE not in line


def test_what_another_formatter_left_in_the_record_is_not_used(failed: BaseException) -> None:
    record = record_of(failed, "page failed")
    logging.Formatter().format(record)
    assert SENTENCE not in QuietFormatter("%(message)s").format(record)


def test_the_products_handler_writes_this_way() -> None:
    assert logging_config("INFO")["formatters"]["line"]["()"] == "llars.logs.QuietFormatter"


def said(message: str, *args: object, name: str = "judge.example") -> dict[str, Any]:
    """What the JSON format makes of a message."""
    record = logging.LogRecord(name, logging.WARNING, __file__, 1, message, args, None)
    return dict(json.loads(JsonFormatter().format(record)))


def test_json_has_the_event_and_its_ids_as_fields() -> None:
    entry = said("wakeup_not_sent task=%s ids=%s error=%s", "judge.run_lane", (3, 1), "OSError")
    assert entry["event"] == "wakeup_not_sent"
    assert (entry["task"], entry["ids"], entry["error"]) == ("judge.run_lane", [3, 1], "OSError")
    assert (entry["level"], entry["logger"], entry["pid"]) == ("WARNING", "judge.example", os.getpid())
    assert entry["time"].endswith("+00:00")
    assert "message" not in entry


def test_frames_stay_on_the_one_line_of_their_event() -> None:
    record = logging.LogRecord(
        "judge.x", logging.ERROR, __file__, 1, "lane_failed comparison=%s\n%s", (7, "a\nb"), None
    )
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line) | {"event": "lane_failed", "comparison": 7, "frames": "a\nb"} == json.loads(line)


def test_the_ids_of_a_lane_are_in_all_that_its_thread_logs() -> None:
    with about(session=4, comparison=9):
        entry = said("heartbeat_failed error=%s", "OSError")
        assert (entry["session"], entry["comparison"], entry["error"]) == (4, 9, "OSError")
        record = logging.LogRecord(
            "judge.x", logging.ERROR, __file__, 1, "lane_failed comparison=%s\n%s", (7, "f"), None
        )
        assert QuietFormatter("%(message)s").format(record) == "lane_failed comparison=7 session=4\nf"
    assert "session" not in said("heartbeat_failed error=%s", "OSError")


def test_what_others_log_is_a_message(failed: BaseException) -> None:
    assert said("Task %s received", "judge.recover", name="celery.worker")["message"] == "Task judge.recover received"
    assert said("event key=%s", 1, name="celery.worker")["message"] == "event key=1"
    assert said("no event of ours: %s", 1)["message"] == "no event of ours: 1"


def test_json_shows_where_an_error_happened_but_not_what_it_says(failed: BaseException) -> None:
    line = JsonFormatter().format(record_of(failed, "Task %(name)s failed: %(exc)s", {"name": "a", "exc": SENTENCE}))
    assert SENTENCE not in line
    assert json.loads(line)["message"] == "Task a failed: ValueError"
    assert "builtins.ValueError" in json.loads(line)["frames"]
    assert "test_logs.py" in json.loads(line)["frames"]


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (["/venv/bin/celery", "-A", "llars", "worker", "--hostname", "judge@%h"], "worker"),
        (["/site-packages/celery/__main__.py", "-A", "llars", "beat"], "beat"),
        (["/venv/bin/uvicorn", "llars.asgi:application"], "web"),
        (["/site-packages/uvicorn/__main__.py", "llars.asgi:application"], "web"),
        (["manage.py", "rebuild_results", "4"], "rebuild_results"),
        ([], ""),
    ],
)
def test_a_process_is_named_by_what_it_does(monkeypatch: pytest.MonkeyPatch, argv: list[str], name: str) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    assert process_name() == name


def log_calls() -> list[tuple[str, ast.expr]]:
    """Every message that our code logs, with where it does."""
    found = []
    for path in sorted(file for folder in ("judge", "llars", "pillars") for file in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                owner = node.func.value
                if (
                    isinstance(owner, ast.Name)
                    and owner.id == "logger"
                    and node.func.attr not in ("log", "isEnabledFor")
                ):
                    found.append((f"{path.relative_to(ROOT)}:{node.lineno}", node.args[0]))
    return found


def test_every_message_of_ours_is_an_event_with_fields() -> None:
    calls = log_calls()
    assert len(calls) > 10
    wrong = [
        place
        for place, message in calls
        if not (isinstance(message, ast.Constant) and EVENT.fullmatch(str(message.value)))
    ]
    assert wrong == []


def test_libraries_say_nothing_below_a_warning_whatever_the_level() -> None:
    config = logging_config("DEBUG", "json")
    assert config["root"]["level"] == "WARNING"
    assert config["handlers"]["stderr"]["formatter"] == "json"
    assert config["loggers"]["judge"]["level"] == "DEBUG"
    # Statements with their values, and what a template could not resolve, belong to Django and hold texts.
    assert {config["loggers"][name]["level"] for name in ("django.db.backends", "django.template")} == {"WARNING"}


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[int, Path]]:
    """The web server as the quickstart starts it: its port and its log."""
    port, log = any_free(), tmp_path / "web.log"
    with log.open("wb") as file:
        process = subprocess.Popen(programs.web("127.0.0.1", port).command, cwd=ROOT, stdout=file, stderr=file)
    try:
        until = time.monotonic() + 60
        while not programs.serves(f"http://127.0.0.1:{port}/health/live"):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        yield port, log
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.processes
def test_a_token_that_somebody_puts_into_a_sockets_address_is_not_logged(web: tuple[int, Path]) -> None:
    port, log = web
    lines = [
        "GET /ws/judge/?token=example-token-in-an-address HTTP/1.1",
        f"Host: localhost:{port}",
        f"Origin: http://localhost:{port}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: ZXhhbXBsZS1leGFtcGxlIQ==",
    ]
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert connection.recv(100).startswith(b"HTTP/1.1 403")
    assert "example-token" not in log.read_text()
