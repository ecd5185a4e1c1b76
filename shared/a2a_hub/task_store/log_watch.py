"""Wait for new entries in a task's log, whichever process writes them."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from a2a_hub.task_store.store import Unavailable

_OUTAGE_POLL_SECONDS = 1.0
VersionReader = Callable[[Sequence[str]], Mapping[str, int] | None]
"""Returns the versions of these tasks, 0 for unknown ones; None during an outage of the store."""


class LogWatch:
    """The waits for new log entries. Writers of this process notify at once; a thread polls for those of other processes."""

    def __init__(
        self,
        open_reader: Callable[[], contextlib.AbstractContextManager[VersionReader]],
        *,
        seconds: float,
        most_share: float,
    ) -> None:
        """Poll every `seconds` while a thread waits, and less often if polling would take more than this share of the time."""
        self._open_reader = open_reader
        self._seconds = seconds
        self._pause_per_poll = 1 / most_share - 1
        self._lock = threading.Lock()
        self._waiting: dict[str, list[threading.Event]] = {}
        self._poller: threading.Thread | None = None
        self._has_waiters = threading.Event()
        self._closed = threading.Event()

    def wait(self, task_id: str, *, after: int, timeout_seconds: float, version: Callable[[], int]) -> bool:
        """Wait until `version` exceeds `after`; return False on a timeout or an outage of the store."""
        if _passed(version, after):
            return True
        deadline = time.monotonic() + timeout_seconds
        with self._waiter(task_id) as changed:
            while not (passed := _passed(version, after)):
                remaining = max(0.0, deadline - time.monotonic())
                # A notification may have come during an outage of the store.
                notified = changed.wait(min(remaining, _OUTAGE_POLL_SECONDS) if passed is None else remaining)
                if not notified and time.monotonic() >= deadline:
                    return False
                changed.clear()
            return True

    def notify(self, task_id: str) -> None:
        """Wake the threads that wait for the task."""
        if self._waiting:
            with self._lock:
                for event in self._waiting.get(task_id, ()):
                    event.set()

    def close(self) -> None:
        """End the polling thread; waits end by their timeouts."""
        self._closed.set()
        self._has_waiters.set()
        poller = self._poller
        if poller:
            poller.join()

    @contextlib.contextmanager
    def _waiter(self, task_id: str) -> Iterator[threading.Event]:
        event = threading.Event()
        with self._lock:
            self._waiting.setdefault(task_id, []).append(event)
            if self._poller is None or not self._poller.is_alive():
                self._poller = threading.Thread(target=self._poll, name="task-store-watch", daemon=True)
                self._poller.start()
            self._has_waiters.set()
        try:
            yield event
        finally:
            with self._lock:
                events = self._waiting[task_id]
                events.remove(event)
                if not events:
                    del self._waiting[task_id]
                if not self._waiting:
                    self._has_waiters.clear()

    def _poll(self) -> None:
        versions: Mapping[str, int] = {}
        pause = self._seconds
        with self._open_reader() as read_versions:
            while not self._closed.wait(pause):
                self._has_waiters.wait()
                with self._lock:
                    waited = list(self._waiting)
                started = time.perf_counter()
                before, now = versions, read_versions(waited)
                if now is not None:
                    # A task that was not polled before may have changed since its waiter read it.
                    for task_id in now:
                        if now[task_id] != before.get(task_id):
                            self.notify(task_id)
                    versions = now
                pause = max(self._seconds, self._pause_per_poll * (time.perf_counter() - started))


def _passed(version: Callable[[], int], after: int) -> bool | None:
    """Return True if the version exceeds `after`; None during an outage of the store."""
    try:
        return version() > after
    except Unavailable:
        return None
