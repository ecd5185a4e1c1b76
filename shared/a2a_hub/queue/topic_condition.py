"""Waking the threads of one process that wait for work of some topics."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection


class TopicCondition:
    """Take `rung` first, then look for work, then `wait` for a ring since: so that none is missed in between."""

    def __init__(self) -> None:
        self._rings: Counter[str] = Counter()
        self._rung = threading.Condition()

    def ring(self, topic: str) -> None:
        """Wakes who waits for this topic."""
        with self._rung:
            self._rings[topic] += 1
            self._rung.notify_all()

    def rung(self, topics: Collection[str]) -> int:
        """How often it has rung for these topics so far."""
        with self._rung:
            return self._sum(topics)

    def wait(self, topics: Collection[str], *, since: int, timeout_seconds: float) -> bool:
        """Waits until it has rung for these topics more often than `since`; False when it did not in time."""
        with self._rung:
            return self._rung.wait_for(lambda: self._sum(topics) > since, timeout_seconds)

    def _sum(self, topics: Collection[str]) -> int:
        return sum(self._rings[topic] for topic in set(topics))
