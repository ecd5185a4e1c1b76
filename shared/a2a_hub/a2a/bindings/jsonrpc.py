"""The JSON-RPC binding (A2A 1.0.1 §9, 0.3 §3.2.1, JSON-RPC 2.0): bytes ↔ operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from a2a_hub.a2a import protojson, versions
from a2a_hub.a2a.bindings import plain_send
from a2a_hub.a2a.compat.v0_3.dialect import Dialect
from a2a_hub.a2a.compat.v0_3.result import to_compat_result
from a2a_hub.a2a.envelope import wrapped
from a2a_hub.a2a.errors import INVALID_REQUEST, METHOD_NOT_FOUND, A2AError
from a2a_hub.a2a.model import Event, SendMessageRequest
from a2a_hub.a2a.operations import OPERATIONS, Operation
from a2a_hub.a2a.versions import Version

_METHODS: dict[str, tuple[Operation, Version]] = {
    **{operation.name: (operation, Version.V1_0) for operation in OPERATIONS},
    **{
        operation.jsonrpc_v0_3: (operation, Version.V0_3)
        for operation in OPERATIONS
        if operation.jsonrpc_v0_3
    },
}


class Envelope(Struct, frozen=True):
    """A JSON-RPC request. `id` is echoed as it came; None for a notification. `params` are JSON, or the request itself
    where they were read along with the envelope.
    """

    id: str | int | float | None
    method: str
    params: Any


def read_envelope(body: bytes) -> Envelope:
    """The request object. Raises PARSE_ERROR or INVALID_REQUEST, for which the answer's id is null."""
    plain = plain_send.read(body)
    if plain is not None:
        return Envelope(*plain)
    value = protojson.decode(body)
    if isinstance(value, list):
        raise A2AError(INVALID_REQUEST, "Batch requests are not supported: send one request object")
    if not isinstance(value, dict):
        raise A2AError(INVALID_REQUEST, "A JSON-RPC request must be an object")
    id_ = value.get("id")
    if isinstance(id_, bool) or not isinstance(id_, str | int | float | None):
        raise _invalid("id", "must be a string, a number or null")
    if value.get("jsonrpc") != "2.0":
        raise _WithId(_invalid("jsonrpc", 'must be "2.0"'), id_)
    method = value.get("method")
    if not isinstance(method, str):
        raise _WithId(_invalid("method", "must be a string"), id_)
    return Envelope(id_, method, value.get("params"))


def knows(method: str) -> bool:
    """The method is one of the protocol's, in one of the versions."""
    return method in _METHODS


def resolve(method: str, named_version: Version | None) -> tuple[Operation, Version]:
    """The operation and version that a method name stands for. Raises METHOD_NOT_FOUND or VERSION_NOT_SUPPORTED."""
    found = _METHODS.get(method)
    if found is None:
        raise A2AError(METHOD_NOT_FOUND, "Method not found: it is no method of A2A 0.3 or 1.0")
    operation, version = found
    return operation, versions.agree(named_version, version, f"The method {method}")


def streams_errors(method: str) -> bool:
    """Errors of this method are sent as an event: Gemini Enterprise takes nothing but an event stream for message/stream."""
    operation, version = _METHODS.get(method, (None, None))
    return operation is not None and operation.streaming and version is Version.V0_3


def read_request(operation: Operation, version: Version, params: Any) -> msgspec.Struct:
    """The 1.0 request in an envelope's `params`. Raises INVALID_PARAMS with the field named."""
    if isinstance(params, SendMessageRequest):
        return params
    # Most requests are read along with their envelope.
    from a2a_hub.a2a.bindings.params import read_params

    return read_params(operation, version, {} if params is None else params)


def result_writer(
    id_: str | float | None, operation: Operation, version: Version
) -> Callable[[Event | msgspec.Struct | None], bytes]:
    """A function that writes one result, or one stream event, as a whole JSON-RPC response.

    None is the result of an operation that has none: `google.protobuf.Empty` in 1.0, null in 0.3.
    """
    head = b'{"jsonrpc":"2.0","id":' + protojson.encode(id_) + b',"result":'

    def write(value: Event | msgspec.Struct | None) -> bytes:
        if version is Version.V1_0:
            result: object = {} if value is None else wrapped(value) if operation.wraps else value
            return head + protojson.encode(result) + b"}"
        return head + protojson.encode(to_compat_result(value, Dialect.JSONRPC)) + b"}"

    return write


def write_result(id_: str | float | None, result: object) -> bytes:
    """A whole JSON-RPC response with a result that is the same in all versions."""
    return protojson.encode({"jsonrpc": "2.0", "id": id_, "result": result})


def write_error(id_: str | float | None, error: A2AError) -> bytes:
    """An error response."""
    return protojson.encode({"jsonrpc": "2.0", "id": id_, "error": error.jsonrpc()})


def id_of(error: A2AError) -> str | int | float | None:
    """The request's id, where an error in the envelope left it readable."""
    return error.id_ if isinstance(error, _WithId) else None


class _WithId(A2AError):
    def __init__(self, error: A2AError, id_: str | float | None) -> None:
        super().__init__(error.kind, error.message, fields=error.fields)
        self.id_ = id_


def _invalid(field: str, description: str) -> A2AError:
    return A2AError(
        INVALID_REQUEST, f"Not a JSON-RPC 2.0 request: {field} {description}", fields=((field, description),)
    )
