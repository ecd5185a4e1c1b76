"""A stand-in as a program: an HTTP server on the loopback interface, JSON answers, Google's errors, faults."""

from __future__ import annotations

import json
import threading
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wsgi import get_input_stream

from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.http.messages import JSON, Handler, Request, Response
from local.ports import LOOPBACK

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

RECEIVED = "/__received"
_MAX_RECEIVED = 1000
_LONGEST_BODY = 64 << 20
_ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_CODES = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "CONDITION_NOT_MET": 412,
    "OUT_OF_RANGE": 416,
    "RESOURCE_EXHAUSTED": 429,
    "UNAVAILABLE": 503,
}
PATH = "/__faults"
LATENCY = "latency"
_FAULTS = Path(__file__).with_name("faults.toml")


class Server:
    """`handle` at `url` while it is entered; port 0 takes a free one. Every request has a thread of its own."""

    def __init__(self, handle: Handler, *, port: int = 0, poll_seconds: float = 0.02) -> None:
        answered = entry_point(handle)(None)  # type: ignore[arg-type]

        def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
            # werkzeug's own ends with the connection, and not with the body.
            environ["wsgi.input"] = get_input_stream(environ)
            return answered(environ, start_response)

        self._http = make_server(LOOPBACK, port, application, threaded=True, request_handler=_SilentRequestHandler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": poll_seconds})

    @property
    def url(self) -> str:
        """The address, without a trailing slash."""
        return f"http://{LOOPBACK}:{self._http.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _SilentRequestHandler(WSGIRequestHandler):
    disable_nagle_algorithm = True

    def log(self, *_: object) -> None:
        """Log nothing."""


def recorded(handle: Handler) -> Handler:
    """Wrap `handle`: GET /__received lists the requests, oldest first, without those to `/__…`."""
    received: list[dict[str, Any]] = []

    def answer(request: Request) -> Response:
        if request.path == RECEIVED:
            return json_response(received)
        if not request.path.startswith("/__"):
            target = request.target or request.path
            received.append({"method": request.method, "target": target, "headers": dict(request.headers)})
            del received[:-_MAX_RECEIVED]
        return handle(request)

    return answer


def json_response(value: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON answer."""
    return Response(status=status, headers={"content-type": JSON, **(headers or {})}, body=json.dumps(value).encode())


def json_body(request: Request) -> Any:
    """Return the request's JSON body. Raises ValueError."""
    return json.loads(request.read_body(_LONGEST_BODY) or b"null")


class ApiError(Exception):
    """A request that the API refuses. `reason` and `metadata` are those of an ErrorInfo, where there is one."""

    def __init__(
        self, status: str, message: str, *, reason: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = _CODES[status]
        self.message = message
        self.reason = reason
        self.metadata = metadata

    def response(self) -> Response:
        """Return the error as an answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "status": self.status}
        if self.reason:
            info: dict[str, Any] = {"@type": _ERROR_INFO, "reason": self.reason, "domain": "googleapis.com"}
            if self.metadata:
                info["metadata"] = dict(self.metadata)
            error["details"] = [info]
        return json_response({"error": error}, status=self.code)


def denied(service: str, permission: str, resource: str) -> ApiError:
    """Return the refusal of a caller without a role that holds `permission`."""
    message = f"Permission '{permission}' denied on resource '//{service}/{resource}' (or it may not exist)."
    metadata = {"permission": permission, "resource": resource}
    return ApiError("PERMISSION_DENIED", message, reason="IAM_PERMISSION_DENIED", metadata=metadata)


class Faults:
    """The faults in the tables of these names, and those of every stand-in, and which of them are on. Thread-safe."""

    def __init__(self, *names: str) -> None:
        tables: dict[str, dict[str, str]] = tomllib.loads(_FAULTS.read_text(encoding="utf-8"))
        self._known = {fault: text for name in ("every", *names) for fault, text in tables[name].items()}
        self._changes = threading.Condition()
        self._on: dict[str, dict[str, Any]] = {}

    def __contains__(self, name: str) -> bool:
        return self.parameters(name) is not None

    def parameters(self, name: str) -> Mapping[str, Any] | None:
        """Return the parameters of a fault; None while it is off. Raises KeyError for an unknown one."""
        if name not in self._known:
            raise KeyError(name)
        with self._changes:
            return self._on.get(name)

    def wait(self, name: str = LATENCY, *, seconds: float = 5.0) -> None:
        """Wait for the `seconds` of the fault, or until it goes off."""
        parameters = self.parameters(name)
        if parameters is not None:
            with self._changes:
                seconds = float(parameters.get("seconds", seconds))
                self._changes.wait_for(lambda: self._on.get(name) is not parameters, seconds)

    def switch_on(self, name: str, **parameters: Any) -> None:
        """Switch the fault on. Raises KeyError for an unknown one."""
        if name not in self._known:
            raise KeyError(name)
        with self._changes:
            self._on[name] = parameters

    def switch_off(self, name: str) -> None:
        """Switch the fault off."""
        with self._changes:
            self._on.pop(name, None)
            self._changes.notify_all()

    def handle(self, request: Request) -> Response | None:
        """Answer a request about faults; None for any other."""
        if request.path != PATH and not request.path.startswith(f"{PATH}/"):
            return None
        name = request.path.removeprefix(PATH).strip("/")
        if name and name not in self._known:
            return json_response({"error": f"no fault {name!r}", "known": self._known}, status=404)
        match (request.method, name):
            case ("GET", ""):
                return json_response({"known": self._known, "on": dict(self._on)})
            case ("DELETE", _):
                for each in [name] if name else self._known:
                    self.switch_off(each)
            case ("POST", str()) if name:
                try:
                    self.switch_on(name, **(json_body(request) or {}))
                except (ValueError, TypeError):
                    return json_response({"error": "the body has to be a JSON object"}, status=400)
            case _:
                return json_response({"error": "use GET, POST or DELETE"}, status=405)
        return Response(status=204)
