"""Errors of calls to agents."""

from enum import StrEnum

from a2a_hub.http.messages import Headers, delay_of, seconds_of


class ClientFault(StrEnum):
    """The fault of a call that gave no result."""

    UNRESOLVED = "unresolved"
    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    UNANSWERED = "unanswered"
    CUT = "cut"
    TOO_LARGE = "too_large"
    CANCELLED = "cancelled"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNEXPECTED_STATUS = "unexpected_status"
    NOT_JSON = "not_json"
    NOT_A2A = "not_a2a"
    UNSIGNED = "unsigned"
    """Its card has no signature of a key that the route names."""
    WRONG_VERSION = "wrong_version"
    EXTENSION_REQUIRED = "extension_required"
    REFUSED = "refused"


_OF_STATUS = {
    401: ClientFault.UNAUTHENTICATED,
    403: ClientFault.FORBIDDEN,
    404: ClientFault.NOT_FOUND,
    413: ClientFault.REFUSED,
    429: ClientFault.RATE_LIMITED,
}

_TEMPORARY = frozenset({429, 503})
_MAX_RETRY_AFTER_SECONDS = 86_400.0


class ClientError(Exception):
    """A call that gave no result. `detail` is a sentence for the operator; `status` and `code` are those of HTTP and JSON-RPC.

    `fields` are the agent's unchecked names of the parts of the request that it did not accept. `retry_after_seconds` is the time
    that the agent wants to be left alone, None if it says nothing about that.
    """

    def __init__(
        self,
        fault: ClientFault,
        detail: str,
        *,
        status: int | None = None,
        code: int | None = None,
        fields: tuple[str, ...] = (),
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(detail)
        self.fault = fault
        self.detail = detail
        self.status = status
        self.code = code
        self.fields = fields
        self.retry_after_seconds = retry_after_seconds


def error_of_status(status: int, headers: Headers | None = None, *, subject: str = "the agent") -> ClientError:
    """Return the error that an HTTP status means by itself, with the Retry-After in the response's headers."""
    other = ClientFault.SERVER_ERROR if status >= 500 else ClientFault.UNEXPECTED_STATUS
    retry_after_seconds = None
    if headers and status in _TEMPORARY:
        # Both times are of the agent's clock, whatever that says.
        seconds = delay_of(headers.get("retry-after"), now=seconds_of(headers.get("date")))
        retry_after_seconds = None if seconds is None else min(seconds, _MAX_RETRY_AFTER_SECONDS)
    return ClientError(
        _OF_STATUS.get(status, other),
        f"{subject} answered HTTP {status}",
        status=status,
        retry_after_seconds=retry_after_seconds,
    )
