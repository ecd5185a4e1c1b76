"""Spans and metrics of OpenTelemetry. Until a recorder is installed (`a2a_hub.telemetry.start`), nothing is recorded, nothing of
OpenTelemetry is imported, and trace context is forwarded as it came.

A span's parent is a `traceparent` (W3C Trace Context §3.2), which goes with the call from thread to thread and on the wire.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from types import TracebackType
from typing import Literal, Protocol, Self, TypeVar

T = TypeVar("T")
_FLUSH_SECONDS = 1.0
_NOTHING = nullcontext()
Attributes = Mapping[str, str | bool | int | float]
Kind = Literal["internal", "server", "client"]
_current: ContextVar[str | None] = ContextVar("traceparent", default=None)


class Span:
    """A span that is not recorded, and the base of those that are: its parent passes through.

    It ends with its `with`, or by `end`. `traceparent` is the parent of what happens inside it.
    """

    is_recorded = False

    def __init__(self, traceparent: str | None) -> None:
        self.traceparent = traceparent

    def set(self, attributes: Attributes) -> None:
        """Add attributes."""

    def link(self, traceparent: str) -> None:
        """Link a span of another trace."""

    def end(self, name: str, *, failed: bool) -> None:
        """End it under this name."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None: ...


class Recorder(Protocol):
    """A recorder of spans, of counters, and of histograms of seconds."""

    def span(self, name: str, parent: str | None, kind: Kind, attributes: Attributes) -> Span: ...  # noqa: D102
    def add(self, name: str, value: int, attributes: Attributes) -> None: ...  # noqa: D102
    def flush(self) -> None: ...  # noqa: D102
    def measure(self, name: str, seconds: float, attributes: Attributes, traceparent: str | None) -> None: ...  # noqa: D102


_recorder: Recorder | None = None


def install(recorder: Recorder | None) -> None:
    """Record with this from now on; None ends it."""
    global _recorder
    _recorder = recorder


def is_on() -> bool:
    """Return True if spans and metrics are recorded."""
    return _recorder is not None


def flush() -> None:
    """Send what was recorded, for at most a second: at the end of a process whose server lets no other code run then."""
    if _recorder:
        sending = threading.Thread(target=_recorder.flush, name="telemetry", daemon=True)
        sending.start()
        sending.join(_FLUSH_SECONDS)


def span(name: str, parent: str | None, *, kind: Kind = "internal", attributes: Attributes | None = None) -> Span:
    """Return a new span, already begun. One without a parent begins a trace.

    A span of kind `server` decides whether its trace is kept; those under it know by its flags.
    """
    if _recorder is None or (kind != "server" and parent and not _is_kept(parent)):
        return Span(parent)
    return _recorder.span(name, parent, kind, attributes or {})


def child(name: str, attributes: Attributes) -> Span:
    """Return a new span of a client under the parent of `within`; none is recorded outside of it."""
    parent = _current.get()
    return span(name, parent, kind="client", attributes=attributes) if parent else Span(None)


def within(traceparent: str | None) -> AbstractContextManager[None]:
    """Make this the parent of `child` in this thread, for what knows no call: stores and models."""
    return _Within(traceparent) if _recorder and _is_kept(traceparent) else _NOTHING


def inside(traceparent: str | None, items: Iterator[T]) -> Iterator[T]:
    """Return the items, each made `within` this parent."""
    return _inside(traceparent, items) if _recorder and _is_kept(traceparent) else items


def _is_kept(traceparent: str | None) -> bool:
    """Return True if the trace is recorded, as the recorder has written it."""
    return traceparent is not None and traceparent.endswith("1")


class _Within:
    def __init__(self, traceparent: str | None) -> None:
        self._traceparent = traceparent

    def __enter__(self) -> None:
        self._before = _current.get()
        _current.set(self._traceparent)

    def __exit__(self, *_: object) -> None:
        # A generator may be closed by another thread.
        if _current.get() == self._traceparent:
            _current.set(self._before)


def _inside(traceparent: str | None, items: Iterator[T]) -> Iterator[T]:
    with _Within(traceparent):
        yield from items


def add(name: str, value: int = 1, **attributes: str) -> None:
    """Add to a counter."""
    if _recorder:
        _recorder.add(name, value, attributes)


def measure(name: str, seconds: float, attributes: Attributes, traceparent: str | None = None) -> None:
    """Add to a histogram of seconds, with the trace as an example."""
    if _recorder:
        _recorder.measure(name, seconds, attributes, traceparent)
