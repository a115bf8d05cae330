"""The whole product in processes of its own, and Chromium in front of it."""

import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, StorageState, expect, sync_playwright

from judge.services.providers import SIMULATED_NAME
from judge.simulated.server import SimulatedServer
from judge.simulated.verdict import SimulatedSettings
from llars.embedded.ports import any_free
from tests.services import browser

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "example-only-password-1"
# Long enough to watch an answer being written, and short enough not to be waited for.
SLOW, QUICK = SimulatedSettings(latency_ms=1500), SimulatedSettings(latency_ms=20)
START_SECONDS = 120
PATIENCE_MS = 20_000
expect.set_options(timeout=PATIENCE_MS)


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


@pytest.fixture(scope="package")
def installed() -> Iterator[Browser]:
    """The installed Chromium, not a downloaded one."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(browser.FLAGS))
        yield started
        started.close()


@pytest.fixture(scope="package")
def running_judge() -> Iterator[SimulatedServer]:
    """The judge of the tests' sessions, under their direction."""
    with SimulatedServer(SLOW) as running:
        yield running


@pytest.fixture
def judge(running_judge: SimulatedServer) -> SimulatedServer:
    """The judge as each test finds it: slow enough to watch, and nobody has called it yet."""
    running_judge.reset()
    running_judge.judge.settings = SLOW
    return running_judge


@pytest.fixture(scope="package")
def product(tmp_path_factory: pytest.TempPathFactory, running_judge: SimulatedServer) -> Iterator[Product]:
    """``quickstart``, whose sessions to come ask the tests' own judge; gone afterwards."""
    chromium()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LLARS_", "DJANGO_"))}
    data = tmp_path_factory.mktemp("product")
    settings = {"LLARS_DATA_DIR": str(data), "LLARS_PORT": str(any_free()), "LLARS_ADMIN_PASSWORD": PASSWORD}
    settings["LLARS_LOCAL_LLM_HOSTS"] = f"{running_judge.host}:{running_judge.port}"
    command = [sys.executable, "-m", "llars.quickstart", "--latency-ms", "5000"]
    with (data / "output").open("w+") as output:
        process = subprocess.Popen(command, cwd=ROOT, env={**kept, **settings}, stdout=output, text=True)
        try:
            announced = _announced(process, data / "output")
            _let_be_asked(running_judge, data)
            yield announced
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


def _let_be_asked(judge: SimulatedServer, data: Path) -> None:
    """As an administrator would, who enters the address of another model server."""
    (file,) = data.glob("*.sqlite3")
    with closing(sqlite3.connect(file, timeout=30)) as database, database:
        command = "UPDATE judge_llmprovider SET base_url = ? WHERE name = ?"
        assert database.execute(command, (judge.base_url, SIMULATED_NAME)).rowcount == 1


@pytest.fixture(scope="package")
def log_in(installed: Browser, product: Product) -> StorageState:
    """The cookies of the administrator, who has aborted the demo session: the tests' own sessions have the workers."""
    opened = _open(installed)
    page = opened.new_page()
    page.goto(f"{product.address}/accounts/login/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
    page.goto(f"{product.address}/judge/session/{product.demo_session}/")
    page.once("dialog", lambda dialog: dialog.accept())
    page.locator("#action-abort").click()
    expect(page.locator("#session-state .status")).to_have_text("aborted")
    cookies = opened.storage_state()
    opened.close()
    return cookies


def _open(browser: Browser, cookies: StorageState | None = None) -> BrowserContext:
    """A window of somebody who reads English on a wide screen."""
    opened = browser.new_context(locale="en", viewport={"width": 1440, "height": 900}, storage_state=cookies)
    opened.set_default_timeout(PATIENCE_MS)
    return opened


@pytest.fixture
def window(installed: Browser, log_in: StorageState) -> Iterator[BrowserContext]:
    """A browser of its own for each test."""
    opened = _open(installed, log_in)
    yield opened
    opened.close()


@dataclass(frozen=True)
class Visit:
    """A page of somebody who is logged in, and what its console complained of."""

    page: Page
    complaints: list[str]


@pytest.fixture
def visit(window: BrowserContext, product: Product) -> Visit:
    """Come to the product's first page."""
    page, heard = window.new_page(), []
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"{product.address}/judge/")
    expect(page.get_by_role("heading", name="Sessions", exact=True)).to_be_visible()
    return Visit(page, heard)
