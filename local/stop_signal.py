"""Being told to stop by a signal.

A handler runs between any two steps of the main thread, which may be inside the lock of a `threading.Event` just then: an Event
that a handler sets can wait for itself for ever. A byte in a pipe cannot.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopSignal:
    """Set by a signal, or by `set`, and from then on for good."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)

    @classmethod
    def of_signals(cls) -> StopSignal:
        """Set by SIGINT, SIGTERM and SIGHUP; not by a SIGHUP that is ignored: a run under nohup is to outlive its terminal."""
        stopping = cls()
        for number in SIGNALS:
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: stopping.set())
        return stopping

    def set(self) -> None:
        """It is set."""
        # A pipe that is full of such bytes is set already.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b".")

    def is_set(self) -> bool:
        """Whether it is set."""
        return self.wait(0)

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Waits until it is set; False when it was not in time."""
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            # A handler's byte is seen at once, since select is entered again after it.
            if select.select([self._reader], [], [], left)[0]:
                return True
            if deadline is not None and time.monotonic() >= deadline:
                return False
