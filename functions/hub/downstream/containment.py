"""Contains errors between the hub and an agent: each becomes a Failure with a text for the user and a remedy for the operator."""

import re
import tomllib
from functools import cache
from http import HTTPStatus
from pathlib import Path

from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.boundaries.boundary import Credential
from a2a_hub.routing.routes import Kind, Route
from functions.hub.failure import Failure, FailureKind

# The kind of failure, and True if it counts against the agent: the others are the hub's own, or concern one request only.
_FAULTS: dict[ClientFault, tuple[FailureKind, bool]] = {
    ClientFault.UNRESOLVED: (FailureKind.DOWN, True),
    ClientFault.UNREACHABLE: (FailureKind.DOWN, True),
    ClientFault.TLS: (FailureKind.DOWN, True),
    ClientFault.TIMEOUT: (FailureKind.SLOW, True),
    ClientFault.UNANSWERED: (FailureKind.CUT, True),
    ClientFault.CUT: (FailureKind.CUT, True),
    ClientFault.TOO_LARGE: (FailureKind.TOO_LARGE, False),
    ClientFault.CANCELLED: (FailureKind.CUT, False),
    ClientFault.UNAUTHENTICATED: (FailureKind.NOT_ALLOWED, True),
    ClientFault.FORBIDDEN: (FailureKind.NOT_ALLOWED, True),
    ClientFault.NOT_FOUND: (FailureKind.NOT_FOUND, True),
    ClientFault.RATE_LIMITED: (FailureKind.BUSY, True),
    ClientFault.SERVER_ERROR: (FailureKind.BROKEN, True),
    ClientFault.UNEXPECTED_STATUS: (FailureKind.BROKEN, False),
    ClientFault.NOT_JSON: (FailureKind.BROKEN, True),
    ClientFault.NOT_A2A: (FailureKind.BROKEN, True),
    ClientFault.UNSIGNED: (FailureKind.NOT_ALLOWED, False),
    ClientFault.WRONG_VERSION: (FailureKind.BROKEN, False),
    ClientFault.EXTENSION_REQUIRED: (FailureKind.NOT_ALLOWED, False),
    ClientFault.REFUSED: (FailureKind.FAILED, False),
}
COUNTS_AGAINST_AGENT = frozenset(fault for fault, (_, counts) in _FAULTS.items() if counts)
# These prove nothing about the agent.
PROVES_NOTHING = frozenset({ClientFault.CANCELLED})
# With the caller's own token, these concern that caller only.
CONCERNS_CALLER_ONLY = frozenset({ClientFault.UNAUTHENTICATED, ClientFault.FORBIDDEN, ClientFault.RATE_LIMITED})
# The agent is unavailable or overloaded.
_TRANSIENT = frozenset(
    {ClientFault.UNRESOLVED, ClientFault.UNREACHABLE, ClientFault.UNANSWERED, ClientFault.CUT, ClientFault.RATE_LIMITED}
)
# The statuses of a proxy in front of an unavailable agent.
_AWAY_STATUS = frozenset({502, 503, 504})
_MAX_FIELDS = 5
_FIELD = r"[A-Za-z_]{1,40}(?:\[[0-9]{1,3}\]|\.[A-Za-z_]{1,40}){0,8}"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


def contained(error: ClientError, route: Route, credential: Credential) -> Failure:
    """Return the error as a failure on this route; `credential` was sent to the agent."""
    fields = _fields(error, route)
    kind = FailureKind.NOT_ACCEPTED if fields else _FAULTS[error.fault][0]
    if error.fault is ClientFault.SERVER_ERROR and error.status in _AWAY_STATUS:
        kind = FailureKind.DOWN
    return Failure(
        kind=kind,
        fault=error.fault.value,
        cause=f"{route.id}: {error.detail}" + (f": {', '.join(fields)}" if fields else ""),
        remedy=_remedy(error, route, credential),
        http_status=error.status,
        transient=error.fault in _TRANSIENT or error.status in _AWAY_STATUS,
        seconds_to_wait=error.retry_after_seconds,
        fields=fields,
    )


def _fields(error: ClientError, route: Route) -> tuple[str, ...]:
    """Return the names of the fields that the agent did not accept; any other text of the agent is dropped."""
    if error.fault is not ClientFault.REFUSED:
        return ()
    named = []
    for field in error.fields[:_MAX_FIELDS]:
        bare = field
        for uri in route.extensions:
            # A key of metadata is an extension's URI, not text written by the agent.
            bare = bare.replace(f".{uri}.", ".", 1)
        if re.fullmatch(_FIELD, bare):
            named.append(field)
    return tuple(named)


def _remedy(error: ClientError, route: Route, credential: Credential) -> str | None:
    of_boundary = None
    if error.fault in CONCERNS_CALLER_ONLY:
        of_boundary = route.boundary.remedy(error.fault, route, credential)
    template = remedies().get(_name_of(error, route), "")
    remedy = template.format(
        route=route.id,
        variable=f"{route.id.upper().replace('-', '_')}_URL",
        tool=route.tool,
        seconds=route.timeout_seconds,
        bytes=route.max_response_bytes,
    )
    return "; else ".join(str(each) for each in (remedy, of_boundary) if each) or None


def _name_of(error: ClientError, route: Route) -> str:
    """Return the name of the remedy."""
    match error.fault:
        case ClientFault.UNAUTHENTICATED if route.signs_caller_for:
            return "unknown_signature"
        case ClientFault.NOT_FOUND if route.tool:
            return "tool_not_found"
        case ClientFault.EXTENSION_REQUIRED if URI in route.extensions and route.protocol_version and route.binding:
            return "extension_of_card"
        case ClientFault.UNEXPECTED_STATUS if error.status in _REDIRECTS:
            return "redirect"
        case ClientFault.REFUSED if error.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return "request_too_large"
        case ClientFault.WRONG_VERSION if route.kind is Kind.MCP:
            return "no_mcp"
        case _:
            return error.fault.value


@cache
def remedies() -> dict[str, str]:
    """Return what remedies.toml says; it is read once."""
    return tomllib.loads(Path(__file__).with_name("remedies.toml").read_text(encoding="utf-8"))
