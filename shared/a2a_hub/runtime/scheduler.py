"""A scheduler of short work, now or later, in a bounded number of threads; pending work holds no thread."""

import heapq
import itertools
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from a2a_hub.runtime.threads import Threads

_RETRY_SECONDS = 0.1


class Timer:
    """Work that is due later, until it is cancelled."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work: Callable[[], object] | None = work

    def cancel(self) -> None:
        """Cancel the work and drop the reference to it."""
        self.work = None


class Scheduler:
    """A scheduler of short pieces of work, each of which contains its own failures. Thread-safe; threads start when needed.

    While the machine has no further thread, the work waits.
    """

    def __init__(self, name: str, *, max_threads: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._name = name
        self._max_threads = max_threads
        self._threads = Threads(name)
        self._changed = threading.Condition()
        self._later: list[tuple[float, int, Timer]] = []
        self._numbers = itertools.count()
        self._ready: deque[Callable[[], object]] = deque()
        self._working = 0
        self._has_timer = False

    def run(self, work: Callable[[], object]) -> None:
        """Run `work` as soon as a thread is free."""
        with self._changed:
            if self._working >= self._max_threads:
                self._ready.append(work)
                return
            self._working += 1
        try:
            self._threads.run(lambda: self._work(work))
        except RuntimeError:
            with self._changed:
                self._working -= 1
            self.run_later(_RETRY_SECONDS, work)

    def run_later(self, seconds: float, work: Callable[[], object]) -> Timer:
        """Run `work` after `seconds`, unless the result is cancelled before."""
        timer = Timer(work)
        if seconds <= 0:
            self.run(work)
            return timer
        with self._changed:
            heapq.heappush(self._later, (self.clock() + seconds, next(self._numbers), timer))
            self._changed.notify()
            if not self._has_timer:
                # Without a further thread, the next work starts it.
                with suppress(RuntimeError):
                    threading.Thread(target=self._time, name=f"{self._name} timer", daemon=True).start()
                    self._has_timer = True
        return timer

    def _work(self, work: Callable[[], object]) -> None:
        while True:
            work()
            with self._changed:
                if not self._ready:
                    self._working -= 1
                    return
                work = self._ready.popleft()

    def _time(self) -> None:
        while True:
            with self._changed:
                while not self._later or (seconds := self._later[0][0] - self.clock()) > 0:
                    self._changed.wait(seconds if self._later else None)
                work = heapq.heappop(self._later)[2].work
            if work is not None:
                self.run(work)
            # While it waits, it would keep all that this work holds.
            del work


class Job(ABC):
    """Work that is repeated whenever it is woken, and runs once at a time; wake-ups before it runs are one."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._due: float | None = None
        self._running = False

    @abstractmethod
    def work(self) -> None:
        """Do what there is to do now; this contains its own failures."""

    def wake(self, seconds: float = 0.0) -> None:
        """Run the work after `seconds`, or earlier if an earlier wake-up is pending."""
        at = self._scheduler.clock() + max(0.0, seconds)
        with self._lock:
            if self._due is not None and self._due <= at:
                return
            self._due = at
            if self._running:
                return
        self._scheduler.run_later(seconds, self._run)

    def _run(self) -> None:
        with self._lock:
            # A wake-up that an earlier one has overtaken finds nothing to do.
            if self._running or self._due is None or self._due > self._scheduler.clock():
                return
            self._due, self._running = None, True
        try:
            self.work()
        finally:
            self._end()

    def _end(self) -> None:
        with self._lock:
            self._running, due = False, self._due
        if due is not None:
            self._scheduler.run_later(due - self._scheduler.clock(), self._run)
