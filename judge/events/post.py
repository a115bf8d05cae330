"""Events of lanes are sent by one thread of the process, so that no verdict waits for Redis.

What has gathered since the last round trip goes out in the next one, in the order it came. A process that is killed
loses what it had not sent: an event only says that something is worth reading again.
"""

import atexit
import queue
import threading
import time

from judge.events.payloads import Event
from judge.events.publisher import publish

# Beyond this many the sender is too slow or Redis is away; watchers then read the database.
MOST_WAITING = 5_000
MOST_AT_ONCE = 200
# What comes within this time goes out together: a round trip costs more than an event, and nobody sees 30 milliseconds.
GATHER_SECONDS = 0.03
LAST_SECONDS = 2.0

Forget = tuple[int, str]


class Post:
    """Takes events from any thread and sends them from its own."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Event | Forget | threading.Event] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def send(self, item: Event | Forget) -> None:
        """Hand over one event, or the partial answer to forget; returns at once."""
        if self._waiting.qsize() >= MOST_WAITING:
            return
        self._waiting.put(item)
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def close(self, seconds: float = LAST_SECONDS) -> None:
        """Wait until everything handed over so far was sent, or the time is over."""
        if self._thread is None or not self._thread.is_alive():
            return
        sent = threading.Event()
        self._waiting.put(sent)
        sent.wait(seconds)

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="events", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        while True:
            items = [self._waiting.get()]
            if not isinstance(items[0], threading.Event):
                time.sleep(GATHER_SECONDS)
            while len(items) < MOST_AT_ONCE and not self._waiting.empty():
                items.append(self._waiting.get())
            news = [item for item in items if isinstance(item, Event)]
            forgotten = [item for item in items if isinstance(item, tuple)]
            if news or forgotten:
                publish(*news, forget=forgotten)
            for item in items:
                if isinstance(item, threading.Event):
                    item.set()


post = Post()
atexit.register(post.close)


def publish_soon(*news: Event) -> None:
    """Publish events without waiting for Redis, in order."""
    for event in news:
        post.send(event)


def forget_soon(comparison_id: int, claim_token: str) -> None:
    """Remove the text of a finished answer from Redis, after the events that were handed over before."""
    post.send((comparison_id, claim_token))
