"""Waiting for a task's log to go on, whichever process writes."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from a2a_hub.task_store.store import Unavailable

_AWAY_SECONDS = 1.0
VersionSource = Callable[[Sequence[str]], Mapping[str, int] | None]
"""The versions of these tasks now, 0 of unknown ones; None where the store could not be asked."""


class LogWatch:
    """Writers of this process tell at once; for the others' sake a thread looks into the store while somebody waits."""

    def __init__(
        self,
        version_source: Callable[[], contextlib.AbstractContextManager[VersionSource]],
        *,
        seconds: float,
        most_share: float,
    ) -> None:
        """Looks every `seconds`, and more rarely where looking would take more than this share of the time."""
        self._version_source = version_source
        self._seconds = seconds
        self._pause_per_look = 1 / most_share - 1
        self._lock = threading.Lock()
        self._waiting: dict[str, list[threading.Event]] = {}
        self._poller: threading.Thread | None = None
        self._somebody_waits = threading.Event()
        self._closed = threading.Event()

    def wait(self, task_id: str, *, after: int, timeout_seconds: float, version: Callable[[], int]) -> bool:
        """Waits until `version` is greater than `after`; False when it was not in time, or the store was away."""
        if _passed(version, after):
            return True
        deadline = time.monotonic() + timeout_seconds
        with self._waiter(task_id) as changed:
            while not (passed := _passed(version, after)):
                remaining = max(0.0, deadline - time.monotonic())
                # A change may have been told of while the store could not be asked.
                notified = changed.wait(min(remaining, _AWAY_SECONDS) if passed is None else remaining)
                if not notified and time.monotonic() >= deadline:
                    return False
                changed.clear()
            return True

    def notify(self, task_id: str) -> None:
        """Wakes who waits for the task."""
        if self._waiting:
            with self._lock:
                for event in self._waiting.get(task_id, ()):
                    event.set()

    def close(self) -> None:
        """The thread ends; waiters run out of time."""
        self._closed.set()
        self._somebody_waits.set()
        poller = self._poller
        if poller:
            poller.join()

    @contextlib.contextmanager
    def _waiter(self, task_id: str) -> Iterator[threading.Event]:
        event = threading.Event()
        with self._lock:
            self._waiting.setdefault(task_id, []).append(event)
            if self._poller is None or not self._poller.is_alive():
                self._poller = threading.Thread(target=self._look, name="task-store-watch", daemon=True)
                self._poller.start()
            self._somebody_waits.set()
        try:
            yield event
        finally:
            with self._lock:
                events = self._waiting[task_id]
                events.remove(event)
                if not events:
                    del self._waiting[task_id]
                if not self._waiting:
                    self._somebody_waits.clear()

    def _look(self) -> None:
        versions: Mapping[str, int] = {}
        pause = self._seconds
        with self._version_source() as look:
            while not self._closed.wait(pause):
                self._somebody_waits.wait()
                with self._lock:
                    waited = list(self._waiting)
                started = time.perf_counter()
                before, now = versions, look(waited)
                if now is not None:
                    # A task that was not looked at before may have changed since its waiter looked.
                    for task_id in now:
                        if now[task_id] != before.get(task_id):
                            self.notify(task_id)
                    versions = now
                pause = max(self._seconds, self._pause_per_look * (time.perf_counter() - started))


def _passed(version: Callable[[], int], after: int) -> bool | None:
    """None where the store is away."""
    try:
        return version() > after
    except Unavailable:
        return None
