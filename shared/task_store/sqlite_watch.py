"""Waiting for a task's log to go on, whichever process writes to the SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator

_LOOK_SECONDS = 0.002
# However many tasks are waited for, looking takes this share of a processor at most.
_PAUSE_PER_LOOK = 9


class Watch:
    """Writers of this process tell at once; for the others' sake a thread looks at the file while somebody waits."""

    def __init__(self, open_connection: Callable[[], sqlite3.Connection]) -> None:
        self._open = open_connection
        self._lock = threading.Lock()
        self._waiting: dict[str, list[threading.Event]] = {}
        self._looker: threading.Thread | None = None
        self._somebody_waits = threading.Event()
        self._closed = threading.Event()

    @contextlib.contextmanager
    def waiter(self, task_id: str) -> Iterator[threading.Event]:
        """An event that is set whenever the task may have changed, from now on."""
        event = threading.Event()
        with self._lock:
            self._waiting.setdefault(task_id, []).append(event)
            if self._looker is None or not self._looker.is_alive():
                self._looker = threading.Thread(target=self._look, name="task-store-watch", daemon=True)
                self._looker.start()
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

    def tell(self, task_id: str) -> None:
        """Wakes who waits for the task."""
        if self._waiting:
            with self._lock:
                for event in self._waiting.get(task_id, ()):
                    event.set()

    def close(self) -> None:
        """The thread ends; waiters run out of time."""
        self._closed.set()
        self._somebody_waits.set()
        looker = self._looker
        if looker and looker is not threading.current_thread():
            looker.join()

    def _look(self) -> None:
        with contextlib.closing(self._open()) as connection:
            seen = -1
            versions: dict[str, int] = {}
            pause = _LOOK_SECONDS
            while not self._closed.wait(pause):
                self._somebody_waits.wait()
                started = time.perf_counter()
                with contextlib.suppress(sqlite3.OperationalError):
                    data_version: int = connection.execute("PRAGMA data_version").fetchone()[0]
                    with self._lock:
                        waited = list(self._waiting)
                    # A task that was not waited for at the last look may have changed since its waiter's own look.
                    if data_version != seen or not versions.keys() >= set(waited):
                        versions = self._tell_changed(connection, waited, versions)
                        seen = data_version
                pause = max(_LOOK_SECONDS, _PAUSE_PER_LOOK * (time.perf_counter() - started))

    def _tell_changed(
        self, connection: sqlite3.Connection, waited: list[str], before: dict[str, int]
    ) -> dict[str, int]:
        now: dict[str, int] = {}
        for task_id in waited:
            row = connection.execute("SELECT version FROM tasks WHERE id = ?", (task_id,)).fetchone()
            now[task_id] = row[0] if row else 0
            if now[task_id] != before.get(task_id):
                self.tell(task_id)
        return now
