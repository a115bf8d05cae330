"""The verdict on a chaos run: what must hold, what was found."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Findings:
    """Lines of the table. Those with an expectation decide; the others inform."""

    lines: list[tuple[str, str, str, bool]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)

    def equal(self, what: str, found: Any, wanted: Any) -> None:
        """``found`` must be ``wanted``."""
        self._add(what, found, f"= {wanted}", found == wanted)

    def at_most(self, what: str, found: float, limit: float) -> None:
        """``found`` must not be above the limit."""
        self._add(what, found, f"<= {limit}", found <= limit)

    def true(self, what: str, found: bool) -> None:
        """It must be so."""
        self._add(what, "yes" if found else "NO", "", found)

    def inform(self, what: str, found: Any) -> None:
        """A figure without an expectation."""
        self._add(what, found, "", True)

    @property
    def good(self) -> bool:
        """Whether everything held."""
        return all(good for *_, good in self.lines)

    def print(self) -> None:
        """Print the table and the outcome."""
        width = max(len(what) for what, *_ in self.lines)
        for what, found, wanted, good in self.lines:
            print(f"{'ok    ' if good else 'FAILED'} {what:<{width}}  {found:>10} {wanted}")
        print("every promise held" if self.good else "A PROMISE WAS BROKEN", flush=True)

    def write(self, path: Path) -> None:
        """Store the figures as JSON."""
        path.write_text(json.dumps({"good": self.good, "figures": self.figures}, indent=1, default=str))

    def _add(self, what: str, found: Any, wanted: str, good: bool) -> None:
        self.figures[what] = found
        shown = f"{found:.1f}" if isinstance(found, float) else str(found)
        self.lines.append((what, shown, wanted, good))
