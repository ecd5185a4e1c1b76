"""Ends reads that last too long: one thread for all connections of a process, and none while nobody reads."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time

_TICK_SECONDS = 1.0
_QUIET_TICKS = 60


class Overdue:
    """Watches connections while somebody reads from them. Late by up to `tick_seconds`; thread-safe.

    Registering costs some microseconds: nothing is woken up, the thread looks for itself.
    """

    def __init__(self, *, tick_seconds: float = _TICK_SECONDS, quiet_ticks: int = _QUIET_TICKS) -> None:
        self._tick_seconds = tick_seconds
        self._quiet_ticks = quiet_ticks
        self._keys = itertools.count()
        self._lock = threading.Lock()
        self._due: dict[int, tuple[float, socket.socket]] = {}
        self._runs = False

    def watch(self, connection: socket.socket, *, seconds: float) -> int:
        """In `seconds` whoever reads from `connection` finds its end, unless `release` is called with the key before that."""
        key = next(self._keys)
        with self._lock:
            self._due[key] = (time.monotonic() + seconds, connection)
            if not self._runs:
                # In the process that serves requests: a thread that is started earlier does not survive a fork.
                self._runs = True
                threading.Thread(target=self._run, name="overdue", daemon=True).start()
        return key

    def release(self, key: int) -> None:
        """The connection is left alone from now on."""
        with self._lock:
            self._due.pop(key, None)

    def _run(self) -> None:
        quiet, tick = 0, threading.Event()
        while True:
            tick.wait(self._tick_seconds)
            with self._lock:
                quiet = 0 if self._due else quiet + 1
                if quiet >= self._quiet_ticks:
                    self._runs = False
                    return
                now = time.monotonic()
                for key in [key for key, (due, _) in self._due.items() if due <= now]:
                    _, connection = self._due.pop(key)
                    with contextlib.suppress(OSError):
                        connection.shutdown(socket.SHUT_RD)
