"""Entry points that stand in for the gate and the card while the local run itself is tested."""

import os
import signal
import threading
from collections.abc import Iterator

import flask

_released = threading.Event()


def gate(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """Says what it received, holds a stream open until it is told to go on, or dies."""
    match request.path:
        case "/tools/query":
            return {"size": len(request.get_data())}
        case "/message:send":
            return {"error": "too large"}, 413
        case "/activity":
            return flask.Response(_events(), mimetype="text/event-stream")
        case "/openapi.yaml":
            _released.set()
        case "/debug-version":
            os.kill(os.getppid(), signal.SIGKILL)
    return {
        "function": "gate",
        "method": request.method,
        "target": request.environ["RAW_URI"],
        "headers": {name.lower(): value for name, value in request.headers},
        "environment": dict(os.environ),
    }


def agent_card(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """Says what it was told when it was started."""
    return {"function": "agent_card", "method": request.method, "environment": dict(os.environ)}


def _events() -> Iterator[str]:
    yield "data: first\n\n"
    _released.wait()
    yield "data: second\n\n"
