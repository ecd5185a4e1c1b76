"""One JSON line per request in Cloud Logging's fields (cloud.google.com/logging/docs/structured-logging), and its trace context.

It never holds a token, and a message's text only if LOG_TEXT asks for it.
"""

import errno
import re
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct, structs

from a2a_hub.http.messages import ObservedBody, Request, Response
from a2a_hub.telemetry import tracing
from a2a_hub.telemetry.outcome import Outcome

Record = dict[str, Any]
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}")
REQUEST_ID = "x-request-id"
"""The header by which a function tells the next one the request's id."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_encode = msgspec.json.Encoder().encode
# Neither callers nor texts are in a trace; ids are in no metric.
_ATTRIBUTES = {
    "operation": "a2a.method.name",
    "version": "a2a.protocol.version",
    "binding": "a2a.binding",
    "outcome": "a2a.response.outcome",
    "taskId": "a2a.task.id",
    "conversation": "gen_ai.conversation.id",
    "result": "a2a_hub.lease.result",
    "fault": "error.type",
    "requestId": "a2a_hub.request.id",
    "route": "a2a_hub.route",
    "quota": "a2a_hub.quota",
}
_LABELS = ("operation", "version", "outcome", "fault", "route", "result")


class _RequestRecord(Record):
    """The record of a request, and its span. `written`: its line is."""

    written = False
    span: tracing.Span = tracing.Span(None)


class Log:
    """A log of JSON lines. `clock` gives monotonic seconds, `now` the time of day.

    Traces belong to the Google Cloud project `project`.

    `is_entrance`: requests come from outside, and get an id here; elsewhere, one that the function in front gave stays.
    """

    def __init__(
        self,
        write: Callable[[bytes], object],
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        function: str,
        project: str | None = None,
        with_text: bool = False,
        is_entrance: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._write = write
        self._clock = clock
        self._new_id = new_id
        self._function = function
        self._project = project
        self.with_text = with_text
        self._is_entrance = is_entrance
        self._now = now
        self._lock = threading.Lock()

    def line(self, severity: str, message: str, **fields: Any) -> None:
        """Write one line."""
        line = {
            "severity": severity,
            "time": self._now().isoformat(timespec="milliseconds"),
            "message": message,
            "function": self._function,
            **fields,
        }
        self._write(_encode(line) + b"\n")

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

        The record starts with `requestId`, which `handle` finds in the request's header, too; it adds its own fields. The trace
        comes from `traceparent`. A stream that is left before its outcome is known is cancelled.
        """

        def logged(request: Request) -> Response:
            started = self._clock()
            given = None if self._is_entrance else request.headers.get(REQUEST_ID)
            request_id = given if given and _REQUEST_ID.fullmatch(given) else self._new_id()
            record = _RequestRecord(requestId=request_id)
            headers = {**request.headers, REQUEST_ID: request_id}
            if tracing.is_on():
                record.span = tracing.span(request.method, traceparent_of(headers), kind="server")
                headers["traceparent"] = record.span.traceparent or ""
            request = structs.replace(request, headers=headers)
            try:
                with tracing.within(record.span.traceparent):
                    response = handle(request, record)
            except Exception:
                self.exception("A request failed outside the protocol", record)
                self._end(request, record, 500, started)
                raise
            if isinstance(response.body, bytes):
                self._end(request, record, response.status, started)
                return response
            streamed = response.body
            assert not isinstance(streamed, Generator), "handlers stream by a PolledBody"
            tracing.add("a2a_hub.streams", 1)

            def end() -> None:
                tracing.add("a2a_hub.streams", -1)
                self._end(request, record, (streamed.failure or response).status, started)

            def leave() -> None:
                record.setdefault("outcome", Outcome.CANCELLED)

            return structs.replace(response, body=ObservedBody(streamed, end, on_left=leave))

        return logged

    def _end(self, request: Request, record: _RequestRecord, status: int, started: float) -> None:
        with self._lock:
            fields = {**record}
            record.written = True
        severity = fields.pop("severity", None) or (
            "ERROR" if status >= 500 else "WARNING" if status >= 400 else "INFO"
        )
        if status >= 400:
            fields.setdefault("outcome", Outcome.FAILED if status >= 500 else Outcome.REFUSED)
        milliseconds = round((self._clock() - started) * 1000, 2)
        fields["httpRequest"] = {
            "requestMethod": request.method,
            "requestUrl": request.path,
            "status": status,
            "latency": f"{milliseconds / 1000:.5f}s",
        }
        fields["ms"] = milliseconds
        trace = trace_of(request.headers)
        if trace is not None:
            name = f"projects/{self._project}/traces/{trace.trace_id}" if self._project else trace.trace_id
            fields["logging.googleapis.com/trace"] = name
            fields["logging.googleapis.com/spanId"] = trace.span_id
            fields["logging.googleapis.com/trace_sampled"] = int(trace.traceparent[-2:], 16) & 1 == 1
        if tracing.is_on():
            _end_request(record.span, request, fields, status, milliseconds / 1000)
        self.line(severity, f"{request.method} {request.path} {status}", **fields)


def _end_request(span: tracing.Span, request: Request, fields: Mapping[str, Any], status: int, seconds: float) -> None:
    """End the span, and count the request."""
    if span.is_recorded:
        about = {name: str(fields[key]) for key, name in _ATTRIBUTES.items() if key in fields}
        span.set({**about, "http.request.method": request.method, "url.path": request.path})
        span.set({"http.response.status_code": status})
        if caller := fields.get("callerTrace"):
            span.link(caller)
        span.end(fields.get("operation") or request.method, failed=fields.get("outcome") == Outcome.FAILED)
    labels = {_ATTRIBUTES[key]: str(fields[key]) for key in _LABELS if key in fields}
    tracing.measure("a2a_hub.request.duration", seconds, labels, span.traceparent)
    if quota := fields.get("quota") or (fields.get("fault") == "quota" and "route"):
        tracing.add("a2a_hub.quota.refusals", 1, quota=str(quota))


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


class Trace(Struct, frozen=True):
    """W3C trace context (Trace Context §3.2). `traceparent` is the whole header, for forwarding."""

    traceparent: str
    trace_id: str
    span_id: str


def trace_of(headers: Mapping[str, Any]) -> Trace | None:
    """Return the trace of these headers (names in lower case) or metadata; None if `traceparent` is missing or malformed."""
    header = headers.get("traceparent")
    match = _TRACEPARENT.fullmatch(header) if isinstance(header, str) else None
    return Trace(match[0], match[1], match[2]) if match else None


def traceparent_of(headers: Mapping[str, Any]) -> str | None:
    """Return the `traceparent` to forward; None if there is no valid one."""
    trace = trace_of(headers)
    return trace.traceparent if trace else None


class Redacted(Struct, frozen=True):
    """Base of values that hold a secret: they show nothing of themselves in a log or a traceback."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"
