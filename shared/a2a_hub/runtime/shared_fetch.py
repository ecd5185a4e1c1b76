"""Values that are fetched by a request: one fetch at a time for all callers, cached while fresh."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from a2a_hub.runtime.threads import Threads

MAX_WAIT_SECONDS = 10.0
_SECONDS_AFTER_FAILURE = 5.0
K = TypeVar("K")
V = TypeVar("V")


class SingleFlight(Generic[K, V]):
    """At most one piece of work per key at a time, whose outcome all callers share. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[K, Future[V]] = {}

    def claim(self, key: K) -> tuple[Future[V], bool]:
        """Return the outcome of the work for the key, and True if the caller has to `complete` it."""
        with self._lock:
            running = self._running.get(key)
            if running is not None:
                return running, False
            future = self._running[key] = Future()
            return future, True

    def start(self, threads: Threads, key: K, future: Future[V], work: Callable[[], V]) -> None:
        """Do the work in a thread; if the machine has no further one, that is the outcome."""
        try:
            threads.run(partial(self.complete, key, future, work))
        except RuntimeError as error:
            with self._lock:
                del self._running[key]
            future.set_exception(error)

    def complete(self, key: K, future: Future[V], work: Callable[[], V]) -> None:
        """Do the work; its result or exception is the outcome."""
        try:
            tell = partial(future.set_result, work())
        except BaseException as error:
            tell = partial(future.set_exception, error)
        with self._lock:
            del self._running[key]
        tell()


class Fetched(NamedTuple):
    """A secret value. It is fetched again after `fresh_until`; until then, and while that fails, it is used to `valid_until`."""

    value: str
    fresh_until: float
    valid_until: float

    def __repr__(self) -> str:
        return "Fetched(…)"


class SharedFetch(Generic[K]):
    """A cache by key. Thread-safe; `clock` gives seconds.

    `fetch` runs in a thread of its own. No caller waits longer than `max_wait_seconds`; a late result serves the next caller.
    While the last value is valid, only the caller that starts the next fetch waits for it. A failure is returned to all callers
    for the next 5 s.
    """

    def __init__(
        self,
        fetch: Callable[[K], Fetched],
        *,
        clock: Callable[[], float],
        name: str,
        max_wait_seconds: float = MAX_WAIT_SECONDS,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._max_wait_seconds = max_wait_seconds
        self._threads = Threads(name)
        self._lock = threading.Lock()
        self._values: dict[K, Fetched] = {}
        self._failures: dict[K, tuple[float, BaseException]] = {}
        self._flights: SingleFlight[K, str] = SingleFlight()

    def value(self, key: K, *, rejected: str | None = None) -> str:
        """Return the value; one that was `rejected` is fetched again. Raises the exception of `fetch`, or TimeoutError."""
        with self._lock:
            now = self._clock()
            last = self._values.get(key)
            if last is not None and last.value == rejected:
                last = None
            if last is not None and now < last.fresh_until:
                return last.value
            is_valid = last is not None and now < last.valid_until
            failed_until, failure = self._failures.get(key, (0.0, None))
            if failure is not None and now < failed_until:
                if last is not None and is_valid:
                    return last.value
                raise failure.with_traceback(None)
            future, is_first = self._flights.claim(key)
            if is_first:
                self._flights.start(self._threads, key, future, partial(self._fetch_now, key))
            elif last is not None and is_valid:
                return last.value
        try:
            return future.result(timeout=self._max_wait_seconds)
        except Exception as error:
            if not future.done():
                self._failed(key, error)
            if last is not None and self._clock() < last.valid_until:
                return last.value
            raise

    def _fetch_now(self, key: K) -> str:
        try:
            fetched = self._fetch(key)
        except BaseException as error:
            self._failed(key, error)
            raise
        with self._lock:
            self._values[key] = fetched
            self._failures.pop(key, None)
        return fetched.value

    def _failed(self, key: K, error: BaseException) -> None:
        with self._lock:
            self._failures[key] = (self._clock() + _SECONDS_AFTER_FAILURE, error)
