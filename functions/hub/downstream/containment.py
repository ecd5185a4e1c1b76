"""Contains errors between the hub and an agent: each becomes a Failure with a text for the user and a remedy for the operator."""

import re

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
# The agent is away, or has too much to do.
_TRANSIENT = frozenset(
    {ClientFault.UNRESOLVED, ClientFault.UNREACHABLE, ClientFault.UNANSWERED, ClientFault.CUT, ClientFault.RATE_LIMITED}
)
# So answers what stands before an agent that is away.
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
    variable = route.id.upper().replace("-", "_")
    match error.fault:
        case ClientFault.UNRESOLVED | ClientFault.UNREACHABLE:
            return f"check that the agent runs and that the route's url ({variable}_URL) is right"
        case ClientFault.TLS:
            return "give the agent a valid certificate; `hubctl doctor` prints the command that shows the current one"
        case ClientFault.NOT_FOUND:
            tool = f', and that the server has the tool "{route.tool}"' if route.tool else ""
            return f"check the path of the route's url ({variable}_URL){tool}"
        case ClientFault.UNAUTHENTICATED if route.signs_caller_for:
            known = (
                "does the agent know the hub's signature? Put the public half of SIGNING_KEY into its HUB_PUBLIC_KEYS"
            )
            return "; else ".join(filter(None, (known, route.boundary.remedy(error.fault, route, credential))))
        case ClientFault.UNAUTHENTICATED | ClientFault.FORBIDDEN | ClientFault.RATE_LIMITED:
            return route.boundary.remedy(error.fault, route, credential)
        case ClientFault.TIMEOUT:
            return f"raise timeout_seconds of route {route.id} (now {route.timeout_seconds:g}), or see why the agent is slow"
        case ClientFault.TOO_LARGE:
            return f"raise max_response_bytes of route {route.id} (now {route.max_response_bytes})"
        case ClientFault.EXTENSION_REQUIRED if URI in route.extensions and route.protocol_version and route.binding:
            # The hub activates this extension for people only if the agent's card requires it.
            return f"leave out protocol_version or binding of route {route.id}, so that the card is read, which requires it"
        case ClientFault.EXTENSION_REQUIRED:
            return (
                f"name the extension that the agent's card requires in `extensions` of route {route.id} in routes.toml"
            )
        case ClientFault.UNEXPECTED_STATUS if error.status in _REDIRECTS:
            return (
                f"redirects are not followed: set the route's url ({variable}_URL) to the redirect's target; "
                "`curl -si -X POST URL` shows it in the Location header"
            )
        case ClientFault.UNSIGNED:
            return (
                f"ask the agent's operator which key signs its card, compare it with card_keys of route {route.id}, and check "
                "that the route's url is right: the card may be another agent's"
            )
        case ClientFault.WRONG_VERSION if route.kind is Kind.MCP:
            return f"check that the url of route {route.id} is that of an MCP server over streamable HTTP"
        case ClientFault.WRONG_VERSION:
            return f"set protocol_version of route {route.id} to the version that the agent speaks"
        case _:
            return None
