"""The JSON-RPC binding (A2A 1.0.1 §9, 0.3 §3.2.1, JSON-RPC 2.0): bytes ↔ operation."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from a2a_hub.a2a import errors, protojson, versions
from a2a_hub.a2a.bindings import sse
from a2a_hub.a2a.errors import INVALID_REQUEST, METHOD_NOT_FOUND, A2AError
from a2a_hub.a2a.model import Binding, Event, Version
from a2a_hub.a2a.operations import OPERATIONS, Operation
from a2a_hub.a2a.version_table import CODECS
from a2a_hub.a2a.versions import VersionCodec
from a2a_hub.http.messages import A2A_JSON, JSON, Request, Response

Id = str | int | float | None
Methods = Mapping[str, Mapping[Version, tuple[Operation, VersionCodec]]]
"""The operations by the names of their methods, each in the versions that have it under this name, oldest first."""

METHODS: Methods = {
    name: {codec.version: (operation, codec) for codec in CODECS.values() if codec.method(operation) == name}
    for operation in OPERATIONS
    for name in filter(None, [codec.method(operation) for codec in CODECS.values()])
}
"""The methods of the protocol itself."""

_MEDIA_TYPES = frozenset({"", JSON, "application/json-rpc", A2A_JSON})
_OF_0_1 = frozenset({"tasks/send", "tasks/sendSubscribe"})
# Other errors are answered with 200, as clients of JSON-RPC expect.
_HTTP_STATUSES = frozenset({403, 413, 415, 429})


class JsonRpcExchange:
    """One JSON-RPC request. `methods` are those of the server, which may be more than the protocol's."""

    binding = Binding.JSONRPC
    media_type = JSON

    def __init__(self, request: Request, *, max_body_bytes: int, methods: Methods = METHODS) -> None:
        self._request = request
        self._max_body_bytes = max_body_bytes
        self._methods = methods
        self.body_bytes = 0
        self._id: Id = None
        self._head = b""
        self._params: Any = None
        self._method = ""

    def resolve(self) -> tuple[Operation, VersionCodec]:
        if self._request.media_type not in _MEDIA_TYPES:
            raise A2AError(errors.UNSUPPORTED_MEDIA_TYPE, "Send the request as Content-Type: application/json")
        body = self._request.body(self._max_body_bytes)
        self.body_bytes = len(body)
        self._method = self._read_envelope(body)
        self._operation, self._codec = resolve(self._method, versions.named_in(self._request), self._methods)
        return self._operation, self._codec

    def read_params(self, *, completes: bool = False) -> Struct:
        params = {} if self._params is None else self._params
        return self._codec.read_request(self._operation, params, self.binding, completes=completes)

    def write_result(self, value: Event | Struct | None) -> bytes:
        if not self._head:
            self._head = b'{"jsonrpc":"2.0","id":' + protojson.encode(self._id) + b',"result":'
        return self._head + self._codec.write_result(self._operation, value, self.binding) + b"}"

    def write_error(self, error: A2AError) -> bytes:
        return write_error(self._id, error)

    def error_response(self, error: A2AError) -> Response:
        body = self.write_error(error)
        rows = self._methods.get(self._method, {}).values()
        if error.kind is errors.OVERLOADED:
            return Response(status=error.kind.http_status, headers={"content-type": JSON} | error.headers, body=body)
        if any(operation.streaming and codec.streams_errors for operation, codec in rows):
            return Response(headers=sse.HEADERS | error.headers, body=sse.write(body))
        status = error.kind.http_status if error.kind.http_status in _HTTP_STATUSES else 200
        return Response(status=status, headers={"content-type": JSON} | error.headers, body=body)

    def _read_envelope(self, body: bytes) -> str:
        """Keep the id and the params, and return the method. Raises PARSE_ERROR or INVALID_REQUEST."""
        value = protojson.decode(body)
        if isinstance(value, list):
            raise A2AError(INVALID_REQUEST, "Batch requests are not supported: send one request object")
        if not isinstance(value, dict):
            raise A2AError(INVALID_REQUEST, "A JSON-RPC request must be an object")
        id_ = value.get("id")
        if isinstance(id_, bool) or not isinstance(id_, Id):
            raise _invalid("id", "must be a string, a number or null")
        self._id, self._params = id_, value.get("params")
        if value.get("jsonrpc") != "2.0":
            raise _invalid("jsonrpc", 'must be "2.0"')
        method = value.get("method")
        if not isinstance(method, str):
            raise _invalid("method", "must be a string")
        return method


def resolve(method: str, named_version: Version | None, methods: Methods = METHODS) -> tuple[Operation, VersionCodec]:
    """Return the operation and version that a method name stands for. Raises METHOD_NOT_FOUND or VERSION_NOT_SUPPORTED."""
    rows = methods.get(method)
    if method in _OF_0_1:
        raise versions.not_supported(f"{method} belongs to A2A 0.1: send message/send of 0.3, or SendMessage of 1.0")
    if rows is None:
        raise unknown_method()
    if named_version is None:
        return next(iter(rows.values()))
    if named_version not in rows:
        raise versions.version_mismatch(f"The method {method}")
    return rows[named_version]


def unknown_method() -> A2AError:
    """Return the error for a method that the agent does not have."""
    return A2AError(METHOD_NOT_FOUND, f"Method not found: A2A {' and '.join(Version)} have no such method")


def write_error(id_: Id, error: A2AError) -> bytes:
    """Return an error response."""
    return protojson.encode({"jsonrpc": "2.0", "id": id_, "error": error.jsonrpc()})


def _invalid(field: str, description: str) -> A2AError:
    message = f"Not a JSON-RPC 2.0 request, as A2A {' and '.join(Version)} have: {field} {description}"
    return A2AError(INVALID_REQUEST, message, fields=((field, description),))
