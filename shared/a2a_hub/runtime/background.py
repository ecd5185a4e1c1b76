"""Work that goes on beside the requests, in the process that serves them."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

from a2a_hub.telemetry.log import Log

_TOLD_EVERY_SECONDS = 60.0


class Background:
    """Calls functions again and again. A failure is logged, and the next turn comes all the same.

    Work that goes on failing is logged once a minute, since its next turn may come within half a second, and when it works again.
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
        """Once started, `do` is called again `seconds` after it returned."""
        self._work.append((seconds, do, name))

    def start(self) -> None:
        """The work goes on in this process from now on; called again, nothing changes."""
        if self._process == os.getpid():
            return
        self._process = os.getpid()
        for seconds, do, name in self._work:
            threading.Thread(target=self._turns, args=(seconds, do, name), name=name, daemon=True).start()

    def stop(self) -> None:
        """No further turn begins."""
        self._stopping.set()

    def _turns(self, seconds: float, do: Callable[[], object], name: str) -> None:
        told_at: float | None = None
        while not self._stopping.wait(seconds):
            try:
                do()
            except Exception:
                now = self._clock()
                if told_at is None or now - told_at >= _TOLD_EVERY_SECONDS:
                    told_at = now
                    self._log.exception(f"{name} failed; it will be tried again", {})
            else:
                if told_at is not None:
                    self._log.line("NOTICE", f"{name} works again")
                told_at = None
