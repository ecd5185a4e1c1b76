"""What every function has: a log, a health page, and an answer for paths where there is nothing."""

from __future__ import annotations

import contextlib
import os
import time

from a2a_hub.a2a.errors import METHOD_NOT_ALLOWED, METHOD_NOT_FOUND, A2AError
from a2a_hub.a2a.reply import MessageFactory
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.runtime.ids import new_id, timestamp
from a2a_hub.telemetry.log import Log

MESSAGE_FACTORY = MessageFactory(new_id=new_id, timestamp=timestamp)
READING = ("GET", "HEAD")
_STDOUT = 1


def stdout_log(function: str, *, project: str | None = None, with_text: bool = False) -> Log:
    """A log that writes to standard output, where Cloud Run picks it up."""

    def write(line: bytes) -> None:
        # A disk that is full, a reader that has left: the line is lost, and not the answer that it is about.
        with contextlib.suppress(OSError):
            # One call for one line: lines of several threads do not mix, and nothing stays behind in a buffer.
            os.write(_STDOUT, line)

    return Log(
        write, clock=time.monotonic, new_id=new_id, function=function, project=project, with_text=with_text
    )


def health(request: Request, name: str) -> Response | None:
    """`GET /` says what this is, `GET /health` that it lives; None for anything else."""
    reads = request.method in READING
    match request.path.rstrip("/"):
        case "" if reads:
            text = f"{name}: an A2A agent. It is up. Its card is at /.well-known/agent-card.json\n"
            return Response(headers={"content-type": "text/plain; charset=utf-8"}, body=text.encode())
        case "/health" if not reads:
            return wrong_method()
        case "/health":
            return Response(
                headers={"content-type": JSON, "cache-control": "no-store"}, body=b'{"status":"ok"}'
            )
        case _:
            return None


def not_found(request: Request) -> Response:
    """404 in the form of the HTTP+JSON binding; 405 where only the method is wrong."""
    from a2a_hub.a2a.bindings import rest

    if request.path in ("", "/"):
        return wrong_method("GET, HEAD, POST", "Send A2A requests with POST")
    error = A2AError(METHOD_NOT_FOUND, "There is nothing at this path")
    return Response(status=404, headers={"content-type": JSON}, body=rest.write_error(error))


def wrong_method(allow: str = ", ".join(READING), message: str = "This page is only read") -> Response:
    """405 in the form of the HTTP+JSON binding, for a path that takes these methods."""
    from a2a_hub.a2a.bindings import rest

    error = A2AError(METHOD_NOT_ALLOWED, message)
    return Response(status=405, headers={"content-type": JSON, "allow": allow}, body=rest.write_error(error))
