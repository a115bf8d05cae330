"""No log line holds what an error says: databases and parsers quote the texts that they refuse."""

import logging
import logging.config
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from llars.embedded.ports import any_free
from llars.logs import QuietFormatter, logging_config
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
