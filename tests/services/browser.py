"""The browser of the page tests: what is installed, and the flags that keep it quiet and able to run as root."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
VARIABLE = "LLARS_TEST_CHROMIUM"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class ChromiumNotFound(Exception):
    """No Chromium is installed here. The text says what to install."""


def find() -> str:
    """The path of Chromium or Chrome.

    Raises:
        ChromiumNotFound: there is none on PATH.
    """
    for name in NAMES:
        path = shutil.which(name)
        if path:
            return path
    raise ChromiumNotFound("Chromium is not installed (apt-get install chromium)")
