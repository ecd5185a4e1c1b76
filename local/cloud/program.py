"""What the stand-ins have in common as programs: a port, a record of what came in, and an orderly end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from a2a_hub.http.messages import JSON, Handler, Request, Response
from local.cloud.server import Server
from local.stop_signal import StopSignal

RECEIVED = "/__received"
LATENCY = "latency"
LATENCY_HELP = "every answer comes `seconds` (5) late"
_MOST_RECEIVED = 1000
_LATENCY_SECONDS = 5.0
_LONGEST_BODY = 64 << 20


def serve(handle: Handler, *, name: str, port: int) -> None:
    """Serves until SIGINT or SIGTERM, and says where."""
    stopping = StopSignal.of_signals()
    with Server(handle, port=port) as server:
        print(f"ready {name} {server.url}", flush=True)
        stopping.wait()


def recorded(handle: Handler) -> Handler:
    """`handle`, and at GET /__received the requests that came in, oldest first; requests to `/__…` are not among them."""
    received: list[dict[str, Any]] = []

    def answer(request: Request) -> Response:
        if request.path == RECEIVED:
            return json_response(received)
        if not request.path.startswith("/__"):
            target = request.target or request.path
            received.append({"method": request.method, "target": target, "headers": dict(request.headers)})
            del received[:-_MOST_RECEIVED]
        return handle(request)

    return answer


def wait(parameters: Any, *, sleep: Callable[[float], object]) -> None:
    """Lets the time of a `latency` fault pass; `parameters` are the fault's, None while it is off."""
    if parameters is not None:
        sleep(float(parameters.get("seconds", _LATENCY_SECONDS)))


def json_response(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A JSON answer."""
    return Response(
        status=status, headers={"content-type": JSON, **(headers or {})}, body=json.dumps(value).encode()
    )


def json_body(request: Request) -> Any:
    """The request's JSON body. Raises ValueError."""
    return json.loads(request.read_body(_LONGEST_BODY) or b"null")
