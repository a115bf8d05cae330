"""An answer on its way to the watchers while the model is still writing it."""

import time

from judge import events
from judge.services import attempts
from judge.services.claiming import Claim

FRAME_SECONDS = 0.1


class AnswerRelay:
    """Passes an answer on to watchers as it arrives, in at most ten frames a second."""

    def __init__(self, claimed: Claim) -> None:
        self._claimed = claimed
        self._pieces: list[str] = []
        self._sent = 0
        self._next_frame = 0.0

    def add(self, piece: str) -> None:
        """Take one piece of the answer."""
        self._pieces.append(piece)
        if time.monotonic() >= self._next_frame:
            self.flush()

    def flush(self) -> None:
        """Publish what has not been published yet."""
        # Escaped as it will be stored: half a surrogate pair can be published as little as it can be saved.
        text = attempts.storable("".join(self._pieces))
        if not text:
            return
        events.publish_soon(
            events.LLMStream(
                session_id=self._claimed.session_id,
                worker_id=self._claimed.worker_id,
                comparison_id=self._claimed.comparison_id,
                claim_token=str(self._claimed.token),
                offset=self._sent,
                token=text,
            )
        )
        self._sent += len(text)
        self._pieces.clear()
        self._next_frame = time.monotonic() + FRAME_SECONDS
