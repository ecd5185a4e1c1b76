"""A source's events for a thread that waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Generic, TypeVar

from a2a_hub.http.messages import Source

T = TypeVar("T")


class Waiting(Iterator["T | None"], Generic[T]):
    """A source's events for a thread that waits for them; None stands for `idle_seconds` without one."""

    def __init__(self, source: Source[T], *, idle_seconds: float) -> None:
        self._source = source
        self.idle_seconds = idle_seconds
        self._ready = threading.Event()
        source.on_ready(self._ready.set)

    def __next__(self) -> T | None:
        deadline = time.monotonic() + self.idle_seconds
        while True:
            self._ready.clear()
            event = self._source.poll()
            if event is not None or not self._ready.wait(max(0.0, deadline - time.monotonic())):
                return event

    def close(self) -> None:
        """Leave the source; idempotent."""
        self._source.close()
