"""One JSON line per request, in Cloud Logging's fields (cloud.google.com/logging/docs/structured-logging).

Never a token; a message's text only when asked for.
"""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from a2a_hub.http.messages import Request, Response
from a2a_hub.telemetry.trace import trace_of

Record = dict[str, Any]
_encode = msgspec.json.Encoder().encode


class Log:
    """Writes lines. `clock` gives seconds that never go back, `project` the Google Cloud project that traces belong to."""

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

    def line(self, severity: str, message: str, **fields: Any) -> None:
        """Writes one line."""
        self._write(
            _encode({"severity": severity, "message": message, "function": self._function, **fields}) + b"\n"
        )

    def exception(self, message: str, record: Record) -> None:
        """Writes the exception that is being handled, with its stack, for Error Reporting.

        What exceptions say may quote what the caller sent: it is left out unless texts are asked for.
        """
        self.line("ERROR", message, requestId=record.get("requestId"), stack_trace=self._stack())

    def _stack(self) -> str:
        return traceback.format_exc() if self.with_text else _stack_without_texts(sys.exception())

    def requests(self, handle: Callable[[Request, Record], Response]) -> Callable[[Request], Response]:
        """`handle`, with one line for each request: written when the answer is complete, for a stream at its end.

        The record starts with `requestId` and, from `traceparent`, the trace; `handle` adds to it what it learns.
        """

        def logged(request: Request) -> Response:
            started = self._clock()
            record: Record = {"requestId": self._new_id()}
            try:
                response = handle(request, record)
            except Exception:
                self.exception("A request failed outside the protocol", record)
                self._end(request, record, 500, started)
                raise
            if isinstance(response.body, bytes):
                self._end(request, record, response.status, started)
                return response
            body = _Watched(response.body, lambda: self._end(request, record, response.status, started))
            return Response(status=response.status, headers=response.headers, body=body)

        return logged

    def _end(self, request: Request, record: Record, status: int, started: float) -> None:
        severity = record.pop("severity", None) or (
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
            **record,
        }
        trace = trace_of(request.headers)
        if trace is not None:
            name = f"projects/{self._project}/traces/{trace.trace_id}" if self._project else trace.trace_id
            line["logging.googleapis.com/trace"] = name
            line["logging.googleapis.com/spanId"] = trace.span_id
        self._write(_encode(line) + b"\n")


def _stack_without_texts(error: BaseException | None) -> str:
    """The stack in the form that Error Reporting knows, each exception by its type alone, the cause before its effect."""
    stacks: list[str] = []
    while error is not None:
        frames = "".join(traceback.format_tb(error.__traceback__))
        stacks.append(f"Traceback (most recent call last):\n{frames}{_named(error)}\n")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\nwhich led to:\n\n".join(reversed(stacks))


def _named(error: BaseException) -> str:
    """Its type, with the system's own word for what happened where there is one: SQLITE_FULL, ENOSPC."""
    word = getattr(error, "sqlite_errorname", None)
    if isinstance(error, OSError) and error.errno is not None:
        word = errno.errorcode.get(error.errno)
    return f"{type(error).__qualname__} {word}" if word else type(error).__qualname__


class _Watched(Iterator[bytes]):
    """A streamed body that says when it has ended: exhausted, failed, or closed because the client left."""

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
        close = getattr(self._body, "close", None)
        if close is not None:
            close()
        self._end()

    def _end(self) -> None:
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end()
