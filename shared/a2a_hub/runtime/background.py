"""Periodic work: in threads beside the requests, or inside requests that a scheduler sends."""

import math
import os
import threading
import time
from collections.abc import Callable

from a2a_hub.telemetry.log import Log

_LOG_FAILURE_SECONDS = 60.0
_LONGEST_WAIT_SECONDS = 3600.0
_RETRY_SECONDS = 5.0


class Job:
    """Work that is repeated. Thread-safe.

    `do` may return the time of an earlier next run, in seconds since the epoch. A failure is logged, and the work is repeated all
    the same; repeated failures are logged once a minute, and once more on recovery.
    """

    def __init__(
        self, seconds: float, do: Callable[[], float | None], *, name: str, log: Log, now: Callable[[], float]
    ) -> None:
        self._seconds = seconds
        self._do = do
        self.name = name
        self._log = log
        self._now = now
        self._next_at = 0.0
        self._changed = threading.Condition()
        self._logged_at: float | None = None

    def at(self, when: float) -> None:
        """Run it no later than `when`, in seconds since the epoch."""
        with self._changed:
            self._next_at = min(self._next_at, when)
            self._changed.notify_all()

    def run_if_due(self) -> None:
        """Run it in this thread if it is time and no other thread runs it."""
        with self._changed:
            if self._next_at > self._now():
                return
            self._next_at = math.inf
        again = self._seconds
        try:
            earlier = self._do()
        except Exception:
            self._log_failure()
            earlier, again = None, min(again, _RETRY_SECONDS)
        else:
            if self._logged_at is not None:
                self._log.line("NOTICE", f"{self.name} works again")
            self._logged_at = None
        self.at(self._now() + again)
        if earlier is not None:
            self.at(earlier)

    def repeat(self) -> None:
        """Run it whenever it is time; `at` wakes this thread."""
        while True:
            with self._changed:
                left = self._next_at - self._now()
                if left > 0:
                    self._changed.wait(min(left, _LONGEST_WAIT_SECONDS))
                    continue
            self.run_if_due()

    def _log_failure(self) -> None:
        now = self._now()
        if self._logged_at is None or now - self._logged_at >= _LOG_FAILURE_SECONDS:
            self._logged_at = now
            self._log.exception(f"{self.name} failed; it will be tried again", {})


class Background:
    """The periodic work of a process: each piece in a thread of its own, or, not `in_threads`, in those that call `run_due`."""

    def __init__(self, log: Log, *, in_threads: bool = True, now: Callable[[], float] = time.time) -> None:
        self._log = log
        self._in_threads = in_threads
        self._now = now
        self._jobs: list[Job] = []
        self._process: int | None = None
        # The framework imports a function before it forks, and a thread does not survive a fork.
        os.register_at_fork(after_in_child=self.start)

    def every(self, seconds: float, do: Callable[[], float | None], *, name: str) -> Job:
        """Call `do` at once, and again `seconds` after it returned, or earlier if it says so. `start` starts it."""
        job = Job(seconds, do, name=name, log=self._log, now=self._now)
        self._jobs.append(job)
        return job

    def start(self) -> None:
        """Start the threads in this process; does nothing if they have started."""
        if not self._in_threads or self._process == os.getpid():
            return
        self._process = os.getpid()
        for job in self._jobs:
            threading.Thread(target=job.repeat, name=job.name, daemon=True).start()

    def run_due(self) -> None:
        """Run what is due, in this thread."""
        for job in self._jobs:
            job.run_if_due()
