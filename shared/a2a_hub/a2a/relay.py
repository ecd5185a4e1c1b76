"""One running iterator of events with any number of subscribers: each gets every event from the first on, in the same order.

The iterator runs in a thread of its own, so that a subscriber can learn that there is nothing yet (keep-alives), can
leave while the iterator blocks, and can join a running iterator.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Generic, TypeVar

from a2a_hub.runtime.threads import Threads

T = TypeVar("T")


class Relay(Generic[T]):
    """A run of `source` with any number of subscribers.

    If the last subscriber leaves before the end, `on_abandoned` is called once and the source is closed.
    """

    def __init__(self, source: Iterator[T], *, on_abandoned: Callable[[], None]) -> None:
        self._source = source
        self._on_abandoned = on_abandoned
        self._changed = threading.Condition()
        self._events: list[T] = []
        self._error: BaseException | None = None
        self._done = False
        self._abandoned = False
        self._subscribers = 0

    def start(self, threads: Threads, *, on_end: Callable[[], None]) -> None:
        """Start the run; call once, after the first `subscribe`. `on_end` is called before a subscriber sees the end.

        If the machine has no further thread, the run has ended when this returns: late is better than not at all.
        """
        try:
            threads.run(lambda: self._run(on_end))
        except RuntimeError:
            self._run(on_end)

    def subscribe(self, *, idle_seconds: float) -> Subscription[T] | None:
        """Return a subscription from the first event on, None if all others have left and the source is being closed."""
        with self._changed:
            if self._abandoned:
                return None
            self._subscribers += 1
        return Subscription(self, idle_seconds)

    def _run(self, on_end: Callable[[], None]) -> None:
        try:
            with closing(_closable(self._source)) as source:
                for event in source:
                    with self._changed:
                        if self._abandoned:
                            break
                        self._events.append(event)
                        self._changed.notify_all()
        except BaseException as error:
            self._error = error
        finally:
            on_end()
            with self._changed:
                self._done = True
                self._changed.notify_all()

    def event_at(self, position: int, idle_seconds: float) -> tuple[T | None, bool]:
        """Return (event, False), (None, False) if none came in time, or (None, True) at the end. Raises the source's error."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._events) > position or self._done, idle_seconds):
                return None, False
            if position < len(self._events):
                return self._events[position], False
            if self._error is not None:
                raise self._error
            return None, True

    def events_after(self, position: int, timeout_seconds: float) -> tuple[list[T], bool]:
        """Return the events after the first `position`, none if none came in time, and True if they are the last."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._events) > position or self._done, timeout_seconds)
            return self._events[position:], self._done

    def first(self) -> T | None:
        """Wait for the first event; None if the source has none."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._events) or self._done)
            return self._events[0] if self._events else None

    def ended(self, timeout_seconds: float) -> bool:
        """Wait for the end; False if it did not come in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._done, timeout_seconds)

    @property
    def error(self) -> BaseException | None:
        """The source's error; known at the end."""
        return self._error

    def leave(self) -> None:
        """Remove one subscriber."""
        with self._changed:
            self._subscribers -= 1
            self._abandoned = abandoned = self._subscribers == 0 and not self._done
        if abandoned:
            self._on_abandoned()


def _closable(source: Iterator[T]) -> Generator[T]:
    yield from source


class Subscription(Iterator["T | None"], Generic[T]):
    """The position of one subscriber; None stands for `idle_seconds` without an event.

    A class: closing a generator that was never advanced runs none of its code.
    """

    def __init__(self, relay: Relay[T], idle_seconds: float) -> None:
        self._relay: Relay[T] | None = relay
        self._idle_seconds = idle_seconds
        self._position = 0

    def __next__(self) -> T | None:
        if self._relay is None:
            raise StopIteration
        try:
            event, ended = self._relay.event_at(self._position, self._idle_seconds)
        except BaseException:
            self.close()
            raise
        if ended:
            self.close()
            raise StopIteration
        if event is not None:
            self._position += 1
        return event

    def close(self) -> None:
        """Leave the relay; idempotent."""
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.leave()
