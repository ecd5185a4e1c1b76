"""Fan-out of one iterator of events to any number of subscribers: each gets all events from the first on, in order.

One thread reads the iterator. Subscribers hold no thread: they poll, and are woken when there is something to read.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar, runtime_checkable

from a2a_hub.a2a.model import Event
from a2a_hub.http.messages import Source, Wake
from a2a_hub.runtime.threads import Threads

T = TypeVar("T")
EventSource = Source[Event]
"""The events of a turn or task for one subscriber. A failure is an A2AError."""


@runtime_checkable
class ForwardedStream(Protocol):
    """A stream that another process forwards and may have to cut off."""

    def farewell(self) -> Sequence[Event]:
        """Return the events that end the stream when it is cut off."""


class Abandoned(Exception):
    """All subscribers of a run have left, and its source is being closed."""


def _nothing() -> None:
    """Do nothing."""


class Relay(Generic[T]):
    """A run of one source with any number of subscribers, which may subscribe before it starts.

    `on_left` is called when the last subscriber leaves before the end. With `ends_when_left`, the run is then abandoned: its
    source is closed, and it accepts no more subscribers.
    """

    def __init__(self, *, on_left: Callable[[], object] = _nothing, ends_when_left: bool = False) -> None:
        self._on_left = on_left
        self._ends_when_left = ends_when_left
        self._lock = threading.Lock()
        self._events: list[T] = []
        self._error: BaseException | None = None
        self._done = False
        self._abandoned = False
        self._subscribers: list[Subscription[T]] = []
        self._watchers: list[Wake] = []

    def start(self, source: Iterator[T], threads: Threads, *, on_end: Callable[[], None] = lambda: None) -> None:
        """Read the source in a thread; call once. `on_end` is called before a subscriber sees the end.

        If no thread can be started, the source is read before this returns.
        """
        try:
            threads.run(lambda: self.run(source, on_end))
        except RuntimeError:
            self.run(source, on_end)

    def run(self, source: Iterator[T], on_end: Callable[[], None] = lambda: None) -> None:
        """Read the source to its end in this thread."""
        try:
            try:
                for event in source:
                    with self._lock:
                        if self._abandoned or self._done:
                            break
                        self._events.append(event)
                    self.wake()
            finally:
                if close := getattr(source, "close", None):
                    close()
        except BaseException as error:
            self._error = self._error or error
        on_end()
        self.end()

    def end(self, error: BaseException | None = None) -> None:
        """End the run: subscribers get the error after the events so far. Later calls change nothing."""
        with self._lock:
            self._done, self._error = True, self._error or error
        self.wake()
        # Breaks a reference cycle with the turn, so that both are freed without the garbage collector.
        self._on_left = _nothing

    def wake(self, *, is_last: bool = False) -> None:
        """Wake all subscribers; with `is_last`, drop the watchers afterwards."""
        for each in self._subscribers.copy():
            each.wake()
        for wake in self._watchers.copy():
            wake()
        if is_last:
            self._watchers.clear()

    def watch(self, wake: Wake) -> None:
        """Call `wake` whenever a subscriber is woken."""
        self._watchers.append(wake)

    def subscribe(self) -> Subscription[T]:
        """Return a subscription from the first event on. Raises Abandoned."""
        with self._lock:
            if self._abandoned:
                raise Abandoned
            subscription = Subscription(self)
            self._subscribers.append(subscription)
        return subscription

    def events_after(self, position: int) -> list[T]:
        """Return the events after the first `position`."""
        with self._lock:
            return self._events[position:]

    def first(self) -> T | None:
        """Wait for the first event and return it, None if the source has none. This subscribes for good."""
        ready = threading.Event()
        self.subscribe().on_ready(ready.set)
        while not (self._events or self._done):
            ready.wait()
            ready.clear()
        return self._events[0] if self._events else None

    @property
    def error(self) -> BaseException | None:
        """The source's error; known at the end."""
        return self._error

    def event_at(self, position: int) -> T | None:
        """Return the event after the first `position`, None if there is none yet. Raise the source's error, or StopIteration at
        the end.
        """
        with self._lock:
            if position < len(self._events):
                return self._events[position]
            if self._done or self._error is not None:
                raise self._error or StopIteration
            return None

    def leave(self, subscription: Subscription[T]) -> None:
        """Remove a subscriber."""
        with self._lock:
            if subscription not in self._subscribers:
                return
            self._subscribers.remove(subscription)
            was_last = not (self._subscribers or self._done)
            self._abandoned = was_last and self._ends_when_left
        if was_last:
            self._on_left()


class Subscription(Generic[T]):
    """The position of one subscriber, a `Source`."""

    def __init__(self, relay: Relay[T]) -> None:
        self._relay = relay
        self._left = False
        self.position = 0
        self.wake: Wake = _nothing

    def poll(self) -> T | None:
        if self._left:
            raise StopIteration
        try:
            event = self._relay.event_at(self.position)
        except BaseException:
            self.close()
            raise
        if event is not None:
            self.position += 1
        return event

    def on_ready(self, wake: Wake) -> None:
        self.wake = wake
        wake()

    def close(self) -> None:
        self._left = True
        self.wake = _nothing
        self._relay.leave(self)
