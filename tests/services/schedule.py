"""Which tests one process runs together, and which of them come first.

Tests that start the whole product or a crew of workers share it within their module, so a module must not be torn apart
between the processes of tests. All of them go to one process, from the beginning: one such module at a time is enough
for two cores, and a long one that begins last would be waited for. (The marks of pytest-xdist for groups of tests do
nothing with pytest 9.2, which has renamed what they rely on.)
"""

from xdist.scheduler import LoadScopeScheduling

HEAVY = ("tests/processes/test_chaos.py", "tests/runtime/test_quickstart.py", "tests/browser/")


def is_heavy(nodeid: str) -> bool:
    """Whether the test shares processes with others of its module."""
    return nodeid.startswith(HEAVY)


class HeavyTogether(LoadScopeScheduling):
    """Hands out test by test, but the heavy ones as one piece."""

    def _split_scope(self, nodeid: str) -> str:
        return "heavy" if is_heavy(nodeid) else nodeid
