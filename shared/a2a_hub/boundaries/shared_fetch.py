"""Values that take a request to get: fetched once for all that need one, kept while they are fresh."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from a2a_hub.boundaries.sources import NoCredential
from a2a_hub.runtime.threads import Threads

_SECONDS_AFTER_FAILURE = 5.0
MAX_WAIT_SECONDS = 10.0
K = TypeVar("K")


class Fetched(NamedTuple):
    """A value. It is fetched again after `fresh_until`; if that fails, it stays in use until `valid_until`."""

    value: str
    fresh_until: float
    valid_until: float

    def __repr__(self) -> str:
        return "Fetched(…)"


class SharedFetch(Generic[K]):
    """A cache by key. Thread-safe; `clock` gives seconds that never go back.

    `fetch` runs in a thread of its own and raises NoCredential. Nobody waits for longer than `max_wait_seconds`: a later result
    serves the next caller. A failure is that of all callers in the next 5 s.
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
        self._name = name
        self._max_wait_seconds = max_wait_seconds
        self._threads = Threads(name)
        self._lock = threading.Lock()
        self._values: dict[K, Fetched] = {}
        self._failures: dict[K, tuple[float, NoCredential]] = {}
        self._running: dict[K, Future[str]] = {}

    def value(self, key: K, *, rejected: str | None = None) -> str:
        """Return the value; one that was `rejected` is fetched again. Raises NoCredential."""
        with self._lock:
            now = self._clock()
            last = self._values.get(key)
            if last is not None and last.value == rejected:
                last = None
            if last is not None and now < last.fresh_until:
                return last.value
            until, failure = self._failures.get(key, (0.0, None))
            if failure is not None and now < until:
                if last is not None and now < last.valid_until:
                    return last.value
                raise failure
            running = self._running.get(key)
            if running is None:
                running = self._running[key] = Future()
                self._threads.run(partial(self._run, key, running))
        try:
            return running.result(timeout=self._max_wait_seconds)
        except (TimeoutError, NoCredential) as error:
            if last is not None and self._clock() < last.valid_until:
                return last.value
            if isinstance(error, NoCredential):
                raise
            late = f"the {self._name} did not come within {self._max_wait_seconds:.0f} s"
            raise NoCredential("credential_timeout", late, "see why its server is slow") from None

    def _run(self, key: K, future: Future[str]) -> None:
        try:
            fetched = self._fetch(key)
        except BaseException as error:
            failure = error if isinstance(error, NoCredential) else _defect(self._name)
            with self._lock:
                self._failures[key] = (self._clock() + _SECONDS_AFTER_FAILURE, failure)
                del self._running[key]
            future.set_exception(failure)
        else:
            with self._lock:
                self._values[key] = fetched
                self._failures.pop(key, None)
                del self._running[key]
            future.set_result(fetched.value)


def _defect(name: str) -> NoCredential:
    return NoCredential("internal", f"an exception inside the hub while it fetched the {name}", "see the hub's log")
