"""The interface of a binding for the server's pipeline: from a request's bytes to an operation, from its result to bytes."""

from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.bindings import jsonrpc, rest
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Binding, Event
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.versions import VersionCodec
from a2a_hub.http.messages import Request, Response


class Exchange(Protocol):
    """One request in its binding. The pipeline calls the methods in their order here; `resolve` and `read_params`
    raise A2AError and BodyError.
    """

    @property
    def binding(self) -> Binding:
        """The name of the binding."""

    @property
    def media_type(self) -> str:
        """The Content-Type of an answer that is not a stream."""

    @property
    def body_bytes(self) -> int:
        """The size of the request's body, once its params are read."""

    def resolve(self) -> tuple[Operation, VersionCodec]:
        """Return the operation that is called, and the codec of the version in which it is called."""

    def read_params(self, *, completes: bool) -> Struct:
        """Return the operation's request; see `VersionCodec.read_request`."""

    def write_result(self, value: Event | Struct | None) -> bytes:
        """Return the body of an answer, or the data of one event."""

    def write_error(self, error: A2AError) -> bytes:
        """Return the body of an error, or the data of an event that is one."""

    def error_response(self, error: A2AError) -> Response:
        """Return the answer to a request that failed before its first result."""


def exchange_of(
    request: Request, *, max_body_bytes: int, methods: jsonrpc.Methods = jsonrpc.METHODS
) -> Exchange | None:
    """Return the exchange of a request; None if no binding has its path."""
    if request.path in ("", "/"):
        return jsonrpc.JsonRpcExchange(request, max_body_bytes=max_body_bytes, methods=methods)
    return rest.RestExchange(request, max_body_bytes=max_body_bytes) if rest.knows(request.path) else None
