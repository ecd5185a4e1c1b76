"""The body of a streaming operation's answer: server-sent events, comments while there are none, an error as the last."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.model import Event


class EventStream(Iterator[bytes]):
    """Chunks of a text/event-stream. `first` was taken from `events` before the headers went out; None, when there was nothing
    yet, is written like any other pause, since a WSGI server sends the headers with the first chunk.

    `write` gives one event's data, `write_failure` the data for an exception that ends the stream.
    """

    def __init__(
        self,
        first: Event | None,
        events: Iterator[Event | None],
        *,
        write: Callable[[Event], bytes],
        write_failure: Callable[[Exception], bytes],
    ) -> None:
        self._first = first
        self._begun = False
        self._events = events
        self._write = write
        self._write_failure = write_failure
        self._failed = False

    def __next__(self) -> bytes:
        if self._failed:
            raise StopIteration
        try:
            event = next(self._events) if self._begun else self._first
            self._begun = True
            return sse.KEEP_ALIVE if event is None else sse.write(self._write(event))
        except StopIteration:
            raise
        except Exception as error:
            self._failed = True
            return sse.write(self._write_failure(error))

    def close(self) -> None:
        """Called by the WSGI server at the end and when the client has left."""
        close = getattr(self._events, "close", None)
        if close is not None:
            close()
