"""Forwards an answer while it arrives, with one thread that waits for all connections."""

import math
import selectors
import threading
import time
from collections.abc import Callable
from enum import StrEnum

from a2a_hub.http.client import ClientResponse, Fault, HttpFailure
from a2a_hub.http.messages import Response

STREAM_END = "x-stream-end"
"""The header with the last events, in base64, of a stream that is not passed on to its end; in a request, the wish for it."""
_QUIET_SECONDS = 60.0
_LIMITS = frozenset({Fault.TIMEOUT, Fault.TOO_LARGE})


class ReadinessWatcher:
    """One thread that reports when connections become readable. It ends after a while without work. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._selector: selectors.BaseSelector | None = None

    def watch(self, file_number: int, wake: Callable[[], None]) -> None:
        """Call `wake` once, as soon as the connection can be read."""
        with self._lock:
            if self._selector is None:
                selector = selectors.DefaultSelector()
                threading.Thread(target=self._run, args=(selector,), name="readiness", daemon=True).start()
                self._selector = selector
            try:
                self._unregister(file_number)
                self._selector.register(file_number, selectors.EVENT_READ, wake)
            except (ValueError, OSError):
                # It is closed, which the next read reports.
                wake()

    def forget(self, file_number: int) -> None:
        """Stop watching the connection, before it is closed."""
        with self._lock:
            self._unregister(file_number)

    def _unregister(self, file_number: int) -> None:
        # The number of a closed connection is -1, which a selector refuses to look up.
        if self._selector is not None and file_number >= 0 and file_number in (self._selector.get_map() or ()):
            self._selector.unregister(file_number)

    def _run(self, selector: selectors.BaseSelector) -> None:
        while True:
            ready = selector.select(_QUIET_SECONDS)
            with self._lock:
                if not ready and not selector.get_map():
                    selector.close()
                    self._selector = None
                    return
                for key, _ in ready:
                    self._unregister(key.fd)
            for key, _ in ready:
                key.data()


class StreamCut(StrEnum):
    """The cause that a body is not passed on to its end."""

    CLIENT_LEFT = "client_left"
    UPSTREAM_LOST = "upstream_lost"
    UPSTREAM_SILENT = "upstream_silent"
    LIMIT = "limit"
    """It is too large, or takes too long."""
    SHUTDOWN = "shutdown"
    """This process ends."""


class ForwardedBody:
    """The body of `answer`, chunk by chunk (`PolledBody`). Closing it, when the client has left, ends the upstream's work.

    `silence_seconds` bounds each silence of the upstream; `on_close` is called by `close`, perhaps more than once, `on_cut`
    once, before the end of a body that is not passed on whole.
    `last` closes an event stream after `end`, after `late_seconds` of silence between two events, and if it breaks off there.
    """

    failure: Response | None = None
    closed = False
    _ends = False
    _is_between_events = True

    def __init__(
        self,
        answer: ClientResponse,
        watcher: ReadinessWatcher,
        *,
        silence_seconds: float,
        on_close: Callable[[], None],
        on_cut: Callable[[StreamCut], object] = lambda _: None,
        last: bytes = b"",
        late_seconds: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._answer = answer
        self._chunks = answer.chunks()
        self._watcher = watcher
        self._silence_seconds = silence_seconds
        self._on_close = on_close
        self._on_cut: Callable[[StreamCut], object] | None = on_cut
        self._last = last
        self._late_seconds = late_seconds
        self._clock = clock
        self._silent_since = clock()
        self._wake: Callable[[], None] | None = None

    @property
    def idle_seconds(self) -> float:
        ends_late = self._last and self._is_between_events
        max_seconds = min(self._late_seconds, self._silence_seconds) if ends_late else self._silence_seconds
        return max(0.0, self._silent_since + max_seconds - self._clock())

    def poll(self) -> bytes | None:
        """See `PolledBody.poll`. Raises HttpFailure."""
        ends = self._ends and self._is_between_events
        if ends and self._last:
            last, self._last = self._last, b""
            return last
        if ends or self.closed:
            raise StopIteration
        if self._answer.has_chunk():
            self._silent_since = self._clock()
            try:
                chunk = next(self._chunks)
            except StopIteration:
                self._on_cut = None
                raise
            except HttpFailure as failure:
                self._cut(StreamCut.LIMIT if failure.fault in _LIMITS else StreamCut.UPSTREAM_LOST)
                if not (self._last and self._is_between_events):
                    raise
                self._ends = True
                return self.poll()
            self._is_between_events = chunk.endswith(b"\n\n")
            return chunk
        if not self.idle_seconds:
            self._cut(StreamCut.UPSTREAM_SILENT)
            if self._last and self._is_between_events:
                self._ends = True
                return self.poll()
            raise HttpFailure(Fault.TIMEOUT, "the answer stopped coming in")
        if self._wake is not None:
            self._watcher.watch(self._answer.file_number, self._wake)
        return None

    def on_ready(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        wake()

    def end(self) -> None:
        """End an event stream between two events: this process stops."""
        self._cut(StreamCut.SHUTDOWN)
        self._ends = True
        if self._wake is not None:
            self._wake()

    def close(self) -> None:
        self.closed = True
        self._cut(StreamCut.CLIENT_LEFT)
        self._watcher.forget(self._answer.file_number)
        self._answer.close()
        self._on_close()

    def _cut(self, cause: StreamCut) -> None:
        on_cut, self._on_cut = self._on_cut, None
        if on_cut is not None:
            on_cut(cause)
