"""Identical requests that are in flight at the same time run once (design §5): Gemini Enterprise sends the same one again and again.

A request is identical when caller, operation, messageId and content are. Only what is still running is joined: messageIds may
come back later and then mean a new turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from shared.a2a.relay import Relay, Subscription

R = TypeVar("R")


class InFlight:
    """The requests that run now. A key of None is joined with nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: dict[bytes, Future[Any]] = {}
        self._relays: dict[bytes, Relay[Any]] = {}

    def once(self, key: bytes | None, run: Callable[[], R]) -> R:
        """The result of `run`, or of the same key's run that is under way; what it raises, all who joined raise."""
        if key is None:
            return run()
        with self._lock:
            running: Future[R] | None = self._results.get(key)
            if running is None:
                mine: Future[R] = Future()
                self._results[key] = mine
        if running is not None:
            return running.result()
        try:
            result = run()
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(result)
            return result
        finally:
            with self._lock:
                del self._results[key]

    def subscription(
        self, key: bytes | None, make: Callable[[], Relay[R]], *, idle_seconds: float
    ) -> Subscription[R]:
        """A subscription to the relay under way with this key, else to a new one, which is started."""
        with self._lock:
            relay = self._relays.get(key) if key is not None else None
            subscription = relay.subscribe(idle_seconds=idle_seconds) if relay is not None else None
            if subscription is not None:
                return subscription
            relay = make()
            if key is not None:
                self._relays[key] = relay
            subscription = relay.subscribe(idle_seconds=idle_seconds)
            assert subscription is not None, "a relay that has not started cannot have been abandoned"
        relay.start(on_end=lambda: self._forget(key, relay))
        return subscription

    def _forget(self, key: bytes | None, relay: Relay[Any]) -> None:
        with self._lock:
            if key is not None and self._relays.get(key) is relay:
                del self._relays[key]
