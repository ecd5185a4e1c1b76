"""How many send at once: one for each config, so many for one receiver, and so many altogether."""

from __future__ import annotations

import threading
from collections import Counter
from urllib.parse import urlsplit

from a2a_hub.task_store.push import PushConfig

MOST_AT_ONCE = 64
_MOST_AT_ONE_RECEIVER = 8


class Senders:
    """Who sends in this process. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sending: set[tuple[str | None, str | None]] = set()
        self._at_receiver: Counter[str] = Counter()

    @property
    def full(self) -> bool:
        """Whether nobody more may begin."""
        return len(self._sending) >= MOST_AT_ONCE

    def begin(self, push: PushConfig) -> bool:
        """Whether somebody may send for `push`, and does from now on, until `end`."""
        key, receiver = _key(push), _receiver(push)
        with self._lock:
            if key in self._sending or self.full or self._at_receiver[receiver] >= _MOST_AT_ONE_RECEIVER:
                return False
            self._sending.add(key)
            self._at_receiver[receiver] += 1
            return True

    def end(self, push: PushConfig) -> None:
        """Nobody sends for `push` any more."""
        receiver = _receiver(push)
        with self._lock:
            self._sending.discard(_key(push))
            self._at_receiver[receiver] -= 1
            if not self._at_receiver[receiver]:
                del self._at_receiver[receiver]


def _key(push: PushConfig) -> tuple[str | None, str | None]:
    return push.config.task_id, push.config.id


def _receiver(push: PushConfig) -> str:
    return urlsplit(push.config.url).netloc
