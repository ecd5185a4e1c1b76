"""Periodic work beside the requests, in the process that serves them."""

import os
import threading
import time
from collections.abc import Callable

from a2a_hub.telemetry.log import Log

_LOG_FAILURE_SECONDS = 60.0


class Background:
    """Periodic work in threads of its own. A failure is logged, and the work is repeated all the same.

    Work that keeps failing is logged once a minute, since it may be repeated twice a second, and once when it works again.
    """

    def __init__(self, log: Log, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._log = log
        self._clock = clock
        self._work: list[tuple[float, Callable[[], object], str]] = []
        self._stopping = threading.Event()
        self._process: int | None = None
        # The framework imports a function before it forks, and a thread does not survive a fork.
        os.register_at_fork(after_in_child=self.start)

    def every(self, seconds: float, do: Callable[[], object], *, name: str) -> None:
        """Call `do` again and again, `seconds` after it returned. `start` starts it."""
        self._work.append((seconds, do, name))

    def start(self) -> None:
        """Start the work in this process; does nothing if it has started."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        for seconds, do, name in self._work:
            threading.Thread(target=self._repeat, args=(seconds, do, name), name=name, daemon=True).start()

    def stop(self) -> None:
        """Repeat nothing any more."""
        self._stopping.set()

    def _repeat(self, seconds: float, do: Callable[[], object], name: str) -> None:
        logged_at: float | None = None
        while not self._stopping.wait(seconds):
            try:
                do()
            except Exception:
                now = self._clock()
                if logged_at is None or now - logged_at >= _LOG_FAILURE_SECONDS:
                    logged_at = now
                    self._log.exception(f"{name} failed; it will be tried again", {})
            else:
                if logged_at is not None:
                    self._log.line("NOTICE", f"{name} works again")
                logged_at = None
