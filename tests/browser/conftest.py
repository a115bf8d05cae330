"""The whole product in processes of its own, and Chromium in front of it."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from llars.embedded.ports import any_free
from tests.services import browser

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "example-only-password-1"
# Long enough to watch an answer being written, short enough to wait for.
LATENCY_MS = 1500
START_SECONDS = 120


def chromium() -> str:
    """Where Chromium is; without one the test is skipped, under CI it fails."""
    try:
        return os.environ.get(browser.VARIABLE) or browser.find()
    except browser.ChromiumNotFound as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@dataclass(frozen=True)
class Product:
    """A running quickstart: its address, and the demo session's number."""

    address: str
    demo_session: int


@pytest.fixture(scope="module")
def installed() -> Iterator[Browser]:
    """The installed Chromium, not a downloaded one."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(browser.FLAGS))
        yield started
        started.close()


@pytest.fixture
def window(installed: Browser) -> Iterator[BrowserContext]:
    """A browser of its own for each test: a researcher who reads English on a wide screen."""
    opened = installed.new_context(locale="en", viewport={"width": 1440, "height": 900})
    opened.set_default_timeout(20_000)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """``quickstart`` with a judge slow enough to watch; gone afterwards."""
    chromium()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLARS_", "DJANGO_"))}
    data = tmp_path_factory.mktemp("product")
    settings = {"LLARS_DATA_DIR": str(data), "LLARS_PORT": str(any_free()), "LLARS_ADMIN_PASSWORD": PASSWORD}
    command = [sys.executable, "-m", "llars.quickstart", "--latency-ms", str(LATENCY_MS)]
    with (data / "output").open("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, env={**kept, **settings}, stdout=output, text=True)
        try:
            yield _announced(process, data / "output")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def _announced(process: "subprocess.Popen[str]", output: Path) -> Product:
    for _ in range(START_SECONDS * 5):
        found = re.search(r"Open (http://\S+?)/judge/session/(\d+)/", output.read_text())
        if found is not None:
            return Product(found[1], int(found[2]))
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        break
    pytest.fail(f"The product did not start: {output.read_text()}")


@dataclass(frozen=True)
class Visit:
    """A page of somebody who is logged in, and what its console complained of."""

    page: Page
    complaints: list[str]


@pytest.fixture
def visit(window: BrowserContext, product: Product) -> Visit:
    """Log in."""
    page, heard = window.new_page(), []
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{product.address}/accounts/login/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
    return Visit(page, heard)
