"""A stand-in as a program: an HTTP server on the loopback interface, JSON answers, Google's errors, faults."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from a2a_hub.http.messages import JSON, Handler, Request, Response, body_of
from local.ports import LOOPBACK

RECEIVED = "/__received"
_MOST_RECEIVED = 1000
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
_LATENCY_SECONDS = 5.0
_LONGEST_PARAMETERS = 65_536


class Server:
    """`handle` at `url` while it is entered; port 0 takes a free one. Every request has a thread of its own."""

    def __init__(self, handle: Handler, *, port: int = 0, poll_seconds: float = 0.02) -> None:
        self._http = _Threads((LOOPBACK, port), _handler(handle))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": poll_seconds})

    @property
    def url(self) -> str:
        """The address, without a trailing slash."""
        return f"http://{LOOPBACK}:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Threads(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


def _handler(handle: Handler) -> type[BaseHTTPRequestHandler]:
    class OneConnection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self._body()
            answer = handle(
                Request(
                    method=self.command,
                    path=unquote(parts.path),
                    target=self.path,
                    headers={name.lower(): value for name, value in self.headers.items()},
                    query=parse_qs(parts.query, keep_blank_values=True),
                    read_body=body_of(body),
                )
            )
            try:
                self._answer(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names

        def _body(self) -> bytes:
            if self.headers.get("transfer-encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("content-length", "0")))
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(chunks)

        def _answer(self, answer: Response) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if isinstance(answer.body, bytes):
                if answer.status not in (204, 304):
                    self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)
                return
            assert isinstance(answer.body, Iterator), "a stand-in answers without polling"
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for chunk in answer.body:
                    self.wfile.write(chunk)
                    self.wfile.flush()
            finally:
                if close := getattr(answer.body, "close", None):
                    close()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return OneConnection


def recorded(handle: Handler) -> Handler:
    """Wrap `handle`: GET /__received lists the requests, oldest first, without those to `/__…`."""
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
    """The faults that a stand-in knows, each with a sentence on what it does, and which of them are on. All know `latency`.
    Thread-safe.

    `changed` gets the name and the parameters, None when the fault went off, before the change is answered.
    """

    def __init__(
        self,
        known: Mapping[str, str],
        *,
        changed: Callable[[str, Mapping[str, Any] | None], None] = lambda _name, _parameters: None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._known = {LATENCY: "every answer comes `seconds` (5) late", **known}
        self._sleep = sleep
        self._changed = changed
        self._lock = threading.Lock()
        self._on: dict[str, dict[str, Any]] = {}

    def __contains__(self, name: str) -> bool:
        return self.parameters(name) is not None

    def parameters(self, name: str) -> Mapping[str, Any] | None:
        """Return the parameters of a fault; None while it is off. Raises KeyError for an unknown one."""
        if name not in self._known:
            raise KeyError(name)
        with self._lock:
            return self._on.get(name)

    def wait(self) -> None:
        """Wait for the time of the fault `latency`, while it is on."""
        parameters = self.parameters(LATENCY)
        if parameters is not None:
            self._sleep(float(parameters.get("seconds", _LATENCY_SECONDS)))

    def switch_on(self, name: str, **parameters: Any) -> None:
        """Switch the fault on. Raises KeyError for an unknown one."""
        if name not in self._known:
            raise KeyError(name)
        with self._lock:
            self._on[name] = parameters
        self._changed(name, parameters)

    def switch_off(self, name: str) -> None:
        """Switch the fault off."""
        with self._lock:
            was_on = self._on.pop(name, None) is not None
        if was_on:
            self._changed(name, None)

    def handle(self, request: Request) -> Response | None:
        """Answer a request about faults; None for any other."""
        if request.path != PATH and not request.path.startswith(f"{PATH}/"):
            return None
        name = request.path.removeprefix(PATH).strip("/")
        if name and name not in self._known:
            return json_response({"error": f"no fault {name!r}", "known": self._known}, status=404)
        match (request.method, name):
            case ("GET", ""):
                with self._lock:
                    return json_response({"known": self._known, "on": dict(self._on)})
            case ("DELETE", ""):
                for each in self._known:
                    self.switch_off(each)
            case ("DELETE", _):
                self.switch_off(name)
            case ("POST", str()) if name:
                try:
                    parameters = json.loads(request.read_body(_LONGEST_PARAMETERS) or b"{}")
                except ValueError:
                    parameters = None
                if not isinstance(parameters, dict):
                    return json_response({"error": "the body has to be a JSON object"}, status=400)
                self.switch_on(name, **parameters)
            case _:
                return json_response({"error": "use GET, POST or DELETE"}, status=405)
        return Response(status=204)
