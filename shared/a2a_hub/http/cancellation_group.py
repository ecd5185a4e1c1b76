"""The cancellations of calls under way, which are cancelled together when the process is told to end."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from a2a_hub.http.messages import Cancellation


class CancellationGroup:
    """The cancellations of the calls that are under way. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Cancellation] = set()
        self.cancelled = False

    @contextmanager
    def call(self) -> Iterator[Cancellation]:
        """Yield the cancellation of one call, which ends with this context; a cancelled one once the group is cancelled."""
        cancellation = Cancellation()
        with self._lock:
            self._open.add(cancellation)
            cancelled = self.cancelled
        try:
            if cancelled:
                cancellation.cancel()
            yield cancellation
        finally:
            with self._lock:
                self._open.discard(cancellation)

    def cancel(self) -> None:
        """Cancel the calls under way, and all later ones."""
        with self._lock:
            self.cancelled, calls = True, list(self._open)
        for call in calls:
            call.cancel()
