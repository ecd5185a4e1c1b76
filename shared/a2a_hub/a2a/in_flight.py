"""Identical requests in flight run once: Gemini Enterprise sends the same one again and again.

A request is identical when its key (caller, operation, messageId) and its content are. Only what is still running is joined:
messageIds may come back later and then mean a new turn.
"""

import threading
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from a2a_hub.a2a.relay import Relay, Subscription
from a2a_hub.runtime.threads import Threads

R = TypeVar("R")


class _Running(Generic[R]):
    """A run with one result. The event exists once somebody waits for it."""

    __slots__ = ("content", "ended", "error", "result")

    def __init__(self, content: object) -> None:
        self.content = content
        self.ended: threading.Event | None = None
        self.result: R | None = None
        self.error: BaseException | None = None


class InFlight:
    """The requests that run now. A key of None is joined with nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads = Threads("relay")
        self._running: dict[Hashable, _Running[Any]] = {}
        self._relays: dict[Hashable, tuple[object, Relay[Any]]] = {}

    def once(self, key: Hashable | None, content: object, run: Callable[[], R]) -> R:
        """The result of `run`, or of the identical run that is under way; what it raises, all who joined raise."""
        if key is None:
            return run()
        mine: _Running[R] = _Running(content)
        with self._lock:
            other = self._running.setdefault(key, mine)
            if other is not mine and other.content == content and other.ended is None:
                other.ended = threading.Event()
        if other is not mine:
            return self._joined(other) if other.content == content else run()
        try:
            mine.result = result = run()
            return result
        except BaseException as error:
            mine.error = error
            raise
        finally:
            with self._lock:
                del self._running[key]
            if mine.ended is not None:
                mine.ended.set()

    def _joined(self, other: _Running[R]) -> R:
        assert other.ended is not None, "made under the lock before joining"
        other.ended.wait()
        if other.error is not None:
            raise other.error
        return other.result  # type: ignore[return-value]

    def subscription(
        self, key: Hashable | None, content: object, make: Callable[[], Relay[R]], *, idle_seconds: float
    ) -> Subscription[R]:
        """A subscription to the identical relay under way, else to a new one, which is started."""
        with self._lock:
            running = self._relays.get(key) if key is not None else None
            if running is not None and running[0] == content:
                subscription = running[1].subscribe(idle_seconds=idle_seconds)
                if subscription is not None:
                    return subscription
            relay = make()
            if key is not None:
                self._relays[key] = (content, relay)
            subscription = relay.subscribe(idle_seconds=idle_seconds)
            assert subscription is not None, "a relay that has not started cannot have been abandoned"
        relay.start(self._threads, on_end=lambda: self._forget(key, relay))
        return subscription

    def _forget(self, key: Hashable | None, relay: Relay[Any]) -> None:
        with self._lock:
            running = self._relays.get(key)
            if running is not None and running[1] is relay:
                del self._relays[key]
