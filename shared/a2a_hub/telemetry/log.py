"""One JSON line per request in Cloud Logging's fields (cloud.google.com/logging/docs/structured-logging), and its trace context.

It never holds a token, and a message's text only if LOG_TEXT asks for it.
"""

import errno
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.http.messages import Request, Response, close_if_closable

Record = dict[str, Any]
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
_encode = msgspec.json.Encoder().encode


class _RequestRecord(Record):
    """The record of a request. `written`: its line is."""

    written = False


class Log:
    """A log of JSON lines. `clock` gives monotonic seconds; traces belong to the Google Cloud project `project`."""

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        function: str,
        project: str | None = None,
        with_text: bool = False,
    ) -> None:
        self._write = write
        self._clock = clock
        self._new_id = new_id
        self._function = function
        self._project = project
        self.with_text = with_text
        self._lock = threading.Lock()

    def line(self, severity: str, message: str, **fields: Any) -> None:
        """Write one line."""
        self._write(_encode({"severity": severity, "message": message, "function": self._function, **fields}) + b"\n")

    def add(self, record: Record, fields: Mapping[str, Any]) -> bool:
        """Add fields to the record of a request. Return False if its line is already written without them."""
        with self._lock:
            record |= fields
            return not (isinstance(record, _RequestRecord) and record.written)

    def exception(self, message: str, record: Record) -> None:
        """Write the exception that is being handled, with its stack, for Error Reporting.

        Messages of exceptions may quote the caller: they are left out unless texts are logged.
        """
        stack = traceback.format_exc() if self.with_text else _stack_without_texts(sys.exception())
        self.line("ERROR", message, requestId=record.get("requestId"), stack_trace=stack)

    def requests(self, handle: Callable[[Request, Record], Response]) -> Callable[[Request], Response]:
        """Return `handle` with one line per request, written when the answer is complete, for a stream at its end.

        The record starts with `requestId`; `handle` adds its own fields. The trace comes from `traceparent`.
        """

        def logged(request: Request) -> Response:
            started = self._clock()
            record: Record = _RequestRecord(requestId=self._new_id())
            try:
                response = handle(request, record)
            except Exception:
                self.exception("A request failed outside the protocol", record)
                self._end(request, record, 500, started)
                raise
            if isinstance(response.body, bytes):
                self._end(request, record, response.status, started)
                return response
            body = _ObservedBody(response.body, lambda: self._end(request, record, response.status, started))
            return Response(status=response.status, headers=response.headers, body=body)

        return logged

    def _end(self, request: Request, record: Record, status: int, started: float) -> None:
        with self._lock:
            fields = {**record}
            if isinstance(record, _RequestRecord):
                record.written = True
        severity = fields.pop("severity", None) or (
            "ERROR" if status >= 500 else "WARNING" if status >= 400 else "INFO"
        )
        milliseconds = round((self._clock() - started) * 1000, 2)
        line = {
            "severity": severity,
            "message": f"{request.method} {request.path} {status}",
            "function": self._function,
            "httpRequest": {
                "requestMethod": request.method,
                "requestUrl": request.path,
                "status": status,
                "latency": f"{milliseconds / 1000:.5f}s",
            },
            "ms": milliseconds,
            **fields,
        }
        trace = trace_of(request.headers)
        if trace is not None:
            name = f"projects/{self._project}/traces/{trace.trace_id}" if self._project else trace.trace_id
            line["logging.googleapis.com/trace"] = name
            line["logging.googleapis.com/spanId"] = trace.span_id
        self._write(_encode(line) + b"\n")


def _stack_without_texts(error: BaseException | None) -> str:
    """Return the stack as Error Reporting parses it: each exception by its type alone, the cause before its effect."""
    stacks: list[str] = []
    while error is not None:
        frames = "".join(traceback.format_tb(error.__traceback__))
        stacks.append(f"Traceback (most recent call last):\n{frames}{_exception_name(error)}\n")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nwhich led to:\n\n".join(reversed(stacks))


def _exception_name(error: BaseException) -> str:
    """Return the exception's type, with the system's error name if there is one: SQLITE_FULL, ENOSPC."""
    word = getattr(error, "sqlite_errorname", None)
    if isinstance(error, OSError) and error.errno is not None:
        word = errno.errorcode.get(error.errno)
    return f"{type(error).__qualname__} {word}" if word else type(error).__qualname__


class _ObservedBody(Iterator[bytes]):
    """A streamed body that calls `on_end` once: exhausted, failed, or closed because the client left."""

    def __init__(self, body: Iterator[bytes], on_end: Callable[[], None]) -> None:
        self._body = body
        self._on_end: Callable[[], None] | None = on_end

    def __next__(self) -> bytes:
        try:
            return next(self._body)
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        close_if_closable(self._body)
        self._end()

    def _end(self) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()


class Trace(Struct, frozen=True):
    """W3C trace context (Trace Context §3.2). `traceparent` is the whole header, for forwarding."""

    traceparent: str
    trace_id: str
    span_id: str


def trace_of(headers: Mapping[str, str]) -> Trace | None:
    """Return the trace of these headers (names in lower case); None if `traceparent` is missing or malformed."""
    header = headers.get("traceparent")
    match = _TRACEPARENT.fullmatch(header) if header else None
    return Trace(match[0], match[1], match[2]) if match else None


def traceparent_of(headers: Mapping[str, str]) -> str | None:
    """Return the `traceparent` header to forward; None if there is no valid one."""
    trace = trace_of(headers)
    return trace.traceparent if trace else None


class Redacted(Struct, frozen=True):
    """Base of values that hold a secret: they show nothing of themselves in a log or a traceback."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"
