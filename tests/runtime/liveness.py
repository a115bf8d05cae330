"""Whether processes are alive, for tests that end them."""

import subprocess
import time
from collections.abc import Callable


def is_running(pid: int) -> bool:
    """Whether the process runs; a zombie that its new parent has not yet collected does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.strip().startswith("Z")


def eventually(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether the condition holds within the time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False
