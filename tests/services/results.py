"""Counting what the runs of pytest and the static checks came to."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Counts:
    """Tests by outcome; errors count as failed."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def line(self) -> str:
        """One line: '12 passed, 0 failed, 1 skipped'."""
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def read_report(path: Path) -> Counts:
    """Count a JUnit report; a run that was broken off before it wrote one counts as nothing."""
    if not path.exists():
        return Counts()
    total = Counts()
    for suite in ElementTree.parse(path).getroot().iter("testsuite"):  # noqa: S314 (our own file)
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        total += Counts(int(suite.get("tests", 0)) - failed - skipped, failed, skipped)
    return total
