"""The doors of functions: `/health` is always answered, and a refusal is logged and has the request's form."""

import os
from collections.abc import Callable, Mapping

from a2a_hub.a2a.error_response import refusal as error_response
from a2a_hub.a2a.errors import HEADERS_TOO_LARGE, OVERLOADED, RETRY_SOON, A2AError, ErrorKind
from a2a_hub.http.admission import Capacity, Door, Limits, Refusal
from a2a_hub.http.messages import Request, Response
from a2a_hub.runtime.function import health, stdout_log
from a2a_hub.runtime.shutdown import Shutdown
from a2a_hub.settings.reader import Settings
from a2a_hub.telemetry.log import Log, Record

_MEBIBYTE = 1 << 20
_KINDS: dict[Refusal, tuple[ErrorKind, dict[str, str]]] = {
    Refusal.OVERLOADED: (OVERLOADED, RETRY_SOON),
    Refusal.STOPPING: (OVERLOADED, RETRY_SOON),
    Refusal.HEADERS_TOO_LARGE: (HEADERS_TOO_LARGE, {}),
}


def door_of(limits: Limits, log: Log, *, in_background: Callable[[], object] = lambda: None) -> Door:
    """Return the door of a function."""

    def refuse(request: Request, refusal: Refusal) -> Response:
        def refused(request: Request, record: Record) -> Response:
            kind, headers = _KINDS[refusal]
            error = A2AError(kind, headers=headers)
            record |= error.log_fields | {"fault": f"{kind.reason}: {refusal}"}
            return error_response(request, error, record)

        return log.requests(refused)(request)

    return Door(
        capacity=Capacity(limits),
        shutdown=Shutdown(),
        answers={"/health": health},
        refuse=refuse,
        in_background=in_background,
    )


def agent_door(name: str, environ: Mapping[str, str]) -> Door:
    """Return the door of an agent on Flask: of its server's threads, one is left to refuse what is too much."""
    threads = environ.get("THREADS", "")
    # The framework's own default.
    most = int(threads) if threads.isdigit() else (os.cpu_count() or 1) * 4
    return door_of(Limits(requests=max(1, most - 1)), stdout_log(name))


def read_limits(settings: Settings) -> Limits:
    """Return the limits in the settings of a function on the event loop."""

    def whole(name: str, default: int, *, most: int, least: int = 1) -> int:
        return int(settings.number(name, default, least=least, most=most))

    default = Limits()
    body_bytes = whole("MAX_BODY_BYTES", default.body_bytes, least=1024, most=32 * _MEBIBYTE)
    # The largest body finds room where nothing else says how much there is.
    room = max(default.held_bytes, body_bytes)
    return Limits(
        threads=whole("THREADS", default.threads, most=1000),
        requests=whole("MAX_REQUESTS", default.requests, most=100_000),
        turns=whole("MAX_TURNS", default.turns, most=100_000),
        streams=whole("MAX_STREAMS", default.streams, most=100_000),
        caller_streams=whole("MAX_STREAMS_PER_CALLER", default.caller_streams, most=100_000),
        body_bytes=body_bytes,
        held_bytes=whole("MAX_HELD_MEBIBYTES", -(-room // _MEBIBYTE), most=32_768) * _MEBIBYTE,
    )
