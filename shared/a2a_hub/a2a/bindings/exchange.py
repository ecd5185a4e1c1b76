"""The seam between the server's pipeline and a binding: from a request's bytes to an operation, from its result to bytes."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from a2a_hub.a2a.errors import (
    PARSE_ERROR,
    PAYLOAD_TOO_LARGE,
    REQUEST_TIMEOUT,
    UNSUPPORTED_MEDIA_TYPE,
    A2AError,
)
from a2a_hub.a2a.model import Binding, Event
from a2a_hub.a2a.operations import Operation
from a2a_hub.a2a.version_codec import VersionCodec
from a2a_hub.http.messages import BodyError, BodyFault, Request, Response


class Exchange(Protocol):
    """One request in its binding. The pipeline calls the methods in their order here; the first two raise A2AError."""

    @property
    def binding(self) -> Binding:
        """The name of the binding."""

    @property
    def media_type(self) -> str:
        """The Content-Type of an answer that is not a stream."""

    def resolve(self) -> tuple[Operation, VersionCodec]:
        """Return the operation that is called, and the codec of the version in which it is called."""

    def read_params(self) -> Struct:
        """Return the operation's request."""

    def write_result(self, value: Event | Struct | None) -> bytes:
        """Return the body of an answer, or the data of one event."""

    def write_error(self, error: A2AError) -> bytes:
        """Return the same for an error."""

    def error_response(self, error: A2AError) -> Response:
        """Return the answer to a request that failed before its first result."""


def read_body(request: Request, max_bytes: int) -> bytes:
    """Return the request's body. Raises A2AError for one that is too large, broken, compressed or too slow (RFC 9110 §15.5)."""
    try:
        body = request.read_body(max_bytes)
    except BodyError as error:
        raise _body_error(error.fault) from None
    if body is None:
        raise A2AError(PAYLOAD_TOO_LARGE, f"The request body is larger than {max_bytes} bytes")
    return body


def _body_error(fault: BodyFault) -> A2AError:
    match fault:
        case BodyFault.COMPRESSED:
            text = "Send the body as it is, without Content-Encoding"
            return A2AError(UNSUPPORTED_MEDIA_TYPE, text, headers={"accept-encoding": "identity"})
        case BodyFault.TOO_SLOW:
            return A2AError(REQUEST_TIMEOUT)
        case BodyFault.BROKEN:
            return A2AError(PARSE_ERROR, "The request's body breaks off, or is not framed as HTTP says")
