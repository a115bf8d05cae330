"""Redis was just away: for a moment nobody of this process asks it again, neither for events nor for wake-ups.

Without it a Redis that hangs would hold a person's click for one time-out after the other, and each lane at every piece
of text.
"""

import time

SECONDS = 1.0


class Silence:
    """Until when Redis is left alone, by the monotonic clock."""

    until = 0.0

    @classmethod
    def begin(cls) -> None:
        """Redis did not answer."""
        cls.until = time.monotonic() + SECONDS

    @classmethod
    def is_kept(cls) -> bool:
        """Whether Redis is left alone now."""
        return time.monotonic() < cls.until
