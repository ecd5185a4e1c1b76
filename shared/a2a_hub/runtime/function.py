"""The parts of every function: its log, admission control, status pages, and its refusals, which have the request's form."""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from select import PIPE_BUF, select

from a2a_hub.a2a.bindings import rest
from a2a_hub.a2a.error_response import refusal
from a2a_hub.a2a.errors import (
    HEADERS_TOO_LARGE,
    METHOD_NOT_ALLOWED,
    METHOD_NOT_FOUND,
    OVERLOADED,
    RETRY_SOON,
    A2AError,
)
from a2a_hub.http.admission import AdmissionControl, Capacity, Limits, Refusal
from a2a_hub.http.dispatch import MethodNotAllowed, NotFound, Public
from a2a_hub.http.messages import JSON, Handler, Request, Response
from a2a_hub.identity.authentication import Caller
from a2a_hub.runtime.ids import new_id
from a2a_hub.runtime.shutdown import Shutdown
from a2a_hub.settings.reader import Settings
from a2a_hub.telemetry.log import Log, Record

__all__ = ["stdout_log"]

_STDOUT = 1
_MAX_LAG_SECONDS = 1.0
_ANONYMOUS = Caller(principal=None)
_MEBIBYTE = 1 << 20


def stdout_log(function: str, *, project: str | None = None, with_text: bool = False, is_entrance: bool = False) -> Log:
    """Return a log that writes to standard output, where Cloud Run picks it up."""
    waits_for_reader, room = True, 0

    def write(line: bytes) -> None:
        nonlocal waits_for_reader, room
        # A full disk or a closed or blocked pipe loses the log line, but not the answer.
        with contextlib.suppress(OSError):
            if len(line) > room:
                seconds = _MAX_LAG_SECONDS if waits_for_reader else 0.0
                waits_for_reader = bool(select([], [_STDOUT], [], seconds)[1])
                # A pipe that can be written to takes this much at once; asking for each line costs a tenth of the throughput.
                room = PIPE_BUF if waits_for_reader else 0
            if waits_for_reader:
                room -= len(line)
                # One system call per line: lines of several threads do not mix, and nothing stays in a buffer.
                os.write(_STDOUT, line)

    return Log(
        write,
        clock=time.monotonic,
        new_id=new_id,
        function=function,
        project=project,
        with_text=with_text,
        is_entrance=is_entrance,
    )


def front_page(name: str) -> Response:
    """Return the page at `/`, which names the function."""
    text = f"{name}: an A2A agent. It is up. Its card is at /.well-known/agent-card.json\n"
    return Response(headers={"content-type": "text/plain; charset=utf-8"}, body=text.encode())


def health(_: Request) -> Response:
    """Return the page at `/health`."""
    return Response(headers={"content-type": JSON}, body=b'{"status":"ok"}')


def status_pages(name: str) -> tuple[Public, Public]:
    """Return the endpoints of the front page and of `/health`."""
    return Public("/", lambda _: front_page(name)), Public("/health", health)


def anonymous(_request: Request, _record: Record) -> Caller:
    """Return the anonymous caller, for functions without authentication."""
    return _ANONYMOUS


def serve(
    handle: Callable[[Request, Record], Response],
    *,
    log: Log,
    before: Callable[[], object] = lambda: None,
) -> Handler:
    """Return a function's handler around a dispatcher's `handle`. `before` is called with each request.

    A refusal has the form of the request: JSON-RPC, HTTP+JSON, or a problem.
    """

    def serve_one(request: Request, record: Record) -> Response:
        before()
        try:
            return handle(request, record)
        except A2AError as error:
            record |= error.log_fields
            return refusal(request, error, record)
        except (NotFound, MethodNotAllowed) as refused:
            not_served = error_of(refused)
            record |= not_served.log_fields
            if request.path.strip("/"):
                return refusal(request, not_served, record)
            # JSON-RPC is POST: other methods at `/` get the form of the HTTP+JSON binding.
            headers = {"content-type": JSON} | not_served.headers
            return Response(status=not_served.kind.http_status, headers=headers, body=rest.write_error(not_served))

    return log.requests(serve_one)


def error_of(refused: NotFound | MethodNotAllowed) -> A2AError:
    """Return the protocol's error for a path or method that has no endpoint."""
    if isinstance(refused, NotFound):
        return A2AError(METHOD_NOT_FOUND, "There is nothing at this path")
    message = "Send requests with POST" if "POST" in refused.allow else "This page is only read"
    return A2AError(METHOD_NOT_ALLOWED, message, headers={"allow": ", ".join(refused.allow)})


def admission_control(
    limits: Limits, log: Log, *, in_background: Callable[[], object] = lambda: None
) -> AdmissionControl:
    """Return the admission control of a function: `/health` is always answered, and a refusal is logged."""

    def refuse(request: Request, reason: Refusal) -> Response:
        def refused(request: Request, record: Record) -> Response:
            too_large = reason is Refusal.HEADERS_TOO_LARGE
            error = A2AError(HEADERS_TOO_LARGE) if too_large else A2AError(OVERLOADED, headers=RETRY_SOON)
            record |= error.log_fields | {"fault": f"{error.kind.reason}: {reason}"}
            return refusal(request, error, record)

        return log.requests(refused)(request)

    return AdmissionControl(
        capacity=Capacity(limits),
        shutdown=Shutdown(),
        answers={"/health": health},
        refuse=refuse,
        in_background=in_background,
    )


def agent_admission_control(name: str, environ: Mapping[str, str]) -> AdmissionControl:
    """Return the admission control of an agent on Flask, which keeps one server thread free to refuse requests."""
    threads = environ.get("THREADS", "")
    # The framework's own default.
    most = int(threads) if threads.isdigit() else (os.cpu_count() or 1) * 4
    return admission_control(Limits(requests=max(1, most - 1)), stdout_log(name))


def read_limits(settings: Settings) -> Limits:
    """Return the limits in the settings of a function on the event loop."""

    def whole(name: str, default: int, *, maximum: int, minimum: int = 1) -> int:
        return int(settings.number(name, default, minimum=minimum, maximum=maximum))

    default = Limits()
    body_bytes = whole("MAX_BODY_BYTES", default.body_bytes, minimum=1024, maximum=32 * _MEBIBYTE)
    # The largest body finds room where nothing else says how much there is.
    room = max(default.held_bytes, body_bytes)
    return Limits(
        threads=whole("THREADS", default.threads, maximum=1000),
        requests=whole("MAX_REQUESTS", default.requests, maximum=100_000),
        turns=whole("MAX_TURNS", default.turns, maximum=100_000),
        streams=whole("MAX_STREAMS", default.streams, maximum=100_000),
        caller_streams=whole("MAX_STREAMS_PER_CALLER", default.caller_streams, maximum=100_000),
        body_bytes=body_bytes,
        held_bytes=whole("MAX_HELD_MEBIBYTES", -(-room // _MEBIBYTE), maximum=32_768) * _MEBIBYTE,
    )
