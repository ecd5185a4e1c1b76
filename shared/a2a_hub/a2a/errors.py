"""Errors of the protocol: one table from kind to JSON-RPC code, HTTP status and reason (A2A 1.0.1 §3.3.2, §5.4, §9.5)."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from a2a_hub.telemetry.outcome import Outcome

__all__ = ["A2AError"]

_DOMAIN = "a2a-protocol.org"
_TYPE = "type.googleapis.com/google.rpc."


class ErrorKind(Struct, frozen=True):
    """One row of the table. `status` is the google.rpc code name that the REST body carries."""

    reason: str
    code: int
    http_status: int
    status: str
    message: str

    @property
    def a2a(self) -> bool:
        """True for one of A2A's own errors, by its code (§5.4); the others are JSON-RPC's, or of HTTP."""
        return -32099 <= self.code <= -32001


PARSE_ERROR = ErrorKind("PARSE_ERROR", -32700, 400, "INVALID_ARGUMENT", "Invalid JSON payload")
INVALID_REQUEST = ErrorKind("INVALID_REQUEST", -32600, 400, "INVALID_ARGUMENT", "Request payload validation error")
PAYLOAD_TOO_LARGE = ErrorKind("PAYLOAD_TOO_LARGE", -32600, 413, "INVALID_ARGUMENT", "The request body is too large")
UNSUPPORTED_MEDIA_TYPE = ErrorKind(
    "CONTENT_TYPE_NOT_SUPPORTED", -32005, 415, "INVALID_ARGUMENT", "The request's Content-Type is not supported"
)
METHOD_NOT_FOUND = ErrorKind("METHOD_NOT_FOUND", -32601, 404, "NOT_FOUND", "Method not found")
METHOD_NOT_ALLOWED = ErrorKind(
    "METHOD_NOT_ALLOWED", -32601, 405, "UNIMPLEMENTED", "The HTTP method is not allowed here"
)
INVALID_PARAMS = ErrorKind("INVALID_PARAMS", -32602, 400, "INVALID_ARGUMENT", "Invalid parameters")
INTERNAL = ErrorKind("INTERNAL", -32603, 500, "INTERNAL", "Internal error")
UNAUTHENTICATED = ErrorKind("UNAUTHENTICATED", -32600, 401, "UNAUTHENTICATED", "Authentication is required")
PERMISSION_DENIED = ErrorKind("PERMISSION_DENIED", -32600, 403, "PERMISSION_DENIED", "Permission denied")
REQUEST_TIMEOUT = ErrorKind(
    "REQUEST_TIMEOUT", -32600, 408, "DEADLINE_EXCEEDED", "The request's body did not arrive in time"
)
HEADERS_TOO_LARGE = ErrorKind(
    "HEADERS_TOO_LARGE", -32600, 431, "INVALID_ARGUMENT", "The request's headers are too large"
)
OVERLOADED = ErrorKind("OVERLOADED", -32603, 503, "UNAVAILABLE", "Too much at once; wait a moment and try again")
RETRY_SOON = {"retry-after": "1"}
"""The headers of OVERLOADED."""
UNAVAILABLE = ErrorKind("UNAVAILABLE", -32603, 503, "UNAVAILABLE", "The service is unavailable")

TASK_NOT_FOUND = ErrorKind("TASK_NOT_FOUND", -32001, 404, "NOT_FOUND", "Task not found")
TASK_NOT_CANCELABLE = ErrorKind(
    "TASK_NOT_CANCELABLE", -32002, 400, "FAILED_PRECONDITION", "The task can no longer be canceled"
)
PUSH_NOTIFICATION_NOT_SUPPORTED = ErrorKind(
    "PUSH_NOTIFICATION_NOT_SUPPORTED", -32003, 400, "FAILED_PRECONDITION", "Push notifications are not supported"
)
UNSUPPORTED_OPERATION = ErrorKind(
    "UNSUPPORTED_OPERATION", -32004, 400, "FAILED_PRECONDITION", "This operation is not supported"
)
CONTENT_TYPE_NOT_SUPPORTED = ErrorKind(
    "CONTENT_TYPE_NOT_SUPPORTED", -32005, 400, "INVALID_ARGUMENT", "The media type of a part is not supported"
)
INVALID_AGENT_RESPONSE = ErrorKind(
    "INVALID_AGENT_RESPONSE", -32006, 500, "INTERNAL", "The agent's response does not conform to the protocol"
)
EXTENDED_AGENT_CARD_NOT_CONFIGURED = ErrorKind(
    "EXTENDED_AGENT_CARD_NOT_CONFIGURED", -32007, 400, "FAILED_PRECONDITION", "No extended agent card is configured"
)
EXTENSION_SUPPORT_REQUIRED = ErrorKind(
    "EXTENSION_SUPPORT_REQUIRED", -32008, 400, "FAILED_PRECONDITION", "The agent requires an extension"
)
VERSION_NOT_SUPPORTED = ErrorKind(
    "VERSION_NOT_SUPPORTED", -32009, 400, "FAILED_PRECONDITION", "The A2A protocol version is not supported"
)

KINDS: tuple[ErrorKind, ...] = tuple(kind for kind in list(globals().values()) if isinstance(kind, ErrorKind))


class ServiceUnavailable(Exception):
    """A service that the answer depends on cannot be reached for now."""


class A2AError(Exception):
    """An error for the caller. `message` is our own sentence, never text of a foreign exception.

    `fields` are (path, description) pairs of invalid input; `metadata` is extra context, strings only;
    `headers` are HTTP headers that belong to the answer, such as `Retry-After`.
    """

    def __init__(
        self,
        kind: ErrorKind,
        message: str | None = None,
        *,
        fields: tuple[tuple[str, str], ...] = (),
        metadata: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message or kind.message)
        self.kind = kind
        self.message = message or kind.message
        self.fields = fields
        self.metadata = dict(metadata or {})
        self.headers = dict(headers or {})

    @property
    def log_fields(self) -> dict[str, str]:
        """The fields of the log that tell of it."""
        quota = self.metadata.get("quota")
        failed = self.kind.http_status >= 500 and self.kind is not OVERLOADED
        fields = {"outcome": Outcome.FAILED if failed else Outcome.REFUSED, "fault": self.kind.reason}
        return fields | ({"quota": quota} if quota else {})

    def details(self, *, for_rest: bool = False) -> list[dict[str, Any]]:
        """Return the error's details in ProtoJSON `Any` form: ErrorInfo for the reason, BadRequest for fields (§9.5, §11.6).

        Official clients of HTTP+JSON read every reason from ErrorInfo, and show nothing without one.
        """
        details: list[dict[str, Any]] = []
        if self.kind.a2a or self.metadata or for_rest:
            info: dict[str, Any] = {"@type": _TYPE + "ErrorInfo", "reason": self.kind.reason, "domain": _DOMAIN}
            details.append(info | ({"metadata": self.metadata} if self.metadata else {}))
        if self.fields:
            violations = [{"field": path, "description": text} for path, text in self.fields]
            details.append({"@type": _TYPE + "BadRequest", "fieldViolations": violations})
        return details

    def jsonrpc(self) -> dict[str, Any]:
        """Return the JSON-RPC `error` object (§9.5)."""
        error: dict[str, Any] = {"code": self.kind.code, "message": self.message}
        if details := self.details():
            error["data"] = details
        return error

    def rest(self) -> dict[str, Any]:
        """Return the HTTP+JSON error body, a google.rpc.Status (§11.6)."""
        status = {"code": self.kind.http_status, "status": self.kind.status, "message": self.message}
        return {"error": {**status, "details": self.details(for_rest=True)}}


def invalid_field(path: str, description: str) -> A2AError:
    """Return INVALID_PARAMS with the field named: `invalid_field("message.parts", "is required")`."""
    return A2AError(INVALID_PARAMS, f"Invalid parameters: {path} {description}", fields=((path, description),))
