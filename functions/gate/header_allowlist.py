"""The headers, parameters and methods that pass the gate: allow-lists, since no deny-list has all names of a forger."""

import re
from collections.abc import Mapping, Sequence
from typing import Protocol
from urllib.parse import urlencode

from a2a_hub.a2a.errors import INVALID_REQUEST, A2AError, ErrorKind

REQUEST_HEADERS = (
    "accept",
    "accept-language",
    "a2a-extensions",
    "a2a-version",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "last-event-id",
    "traceparent",
    "tracestate",
    "user-agent",
    "x-a2a-extensions",
)
RESPONSE_HEADERS = (
    "a2a-extensions",
    "allow",
    "cache-control",
    "content-type",
    "etag",
    "last-modified",
    "retry-after",
    "vary",
    "www-authenticate",
    "x-a2a-extensions",
    "x-accel-buffering",
)
# In lower case, without the underscores of the older spelling (`page_size`).
PARAMETERS = frozenset(
    {
        "a2a-version",
        "contextid",
        "historylength",
        "includeartifacts",
        "pagesize",
        "pagetoken",
        "status",
        "statustimestampafter",
        "tenant",
    }
)
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE"})
_SEGMENT = r"(?:[A-Za-z0-9_~:-][A-Za-z0-9._~:-]*|\.well-known)"
_PATH = re.compile(rf"/(?:{_SEGMENT}/)*(?:{_SEGMENT})?")
_MAX_PATH_CHARACTERS = 2048
_MAX_HEADER_BYTES = 32 * 1024
_HEADERS_TOO_LARGE = ErrorKind(
    "HEADERS_TOO_LARGE", -32600, 431, "INVALID_ARGUMENT", "The request's headers are too large", a2a=False
)
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# One name or address (RFC 9112 §3.2): two Host headers arrive as a list.
_HOST = re.compile(r"(?:[A-Za-z0-9._~%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")


def check_target(target: str | None, path: str) -> None:
    """Raise INVALID_REQUEST for a path with empty or dot segments, escapes, or anything but plain characters.

    `path` is the server's reading of `target`, and must equal it: a path with two readings is an attack, or will become one.
    """
    raw_path = path if target is None else target.partition("?")[0]
    if len(path) > _MAX_PATH_CHARACTERS or raw_path != path or not _PATH.fullmatch(path):
        raise A2AError(INVALID_REQUEST, "The path is not one that an A2A request has")


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise an error for headers larger than any client needs (431), and for those that proxies read differently (400)."""
    values = "".join(headers.values())
    if len(values) + sum(map(len, headers)) > _MAX_HEADER_BYTES:
        raise A2AError(_HEADERS_TOO_LARGE)
    if (
        _CONTROL.search(values)
        or not _HOST.fullmatch(headers.get("host", ""))
        or headers.get("transfer-encoding", "chunked").lower() != "chunked"
    ):
        raise A2AError(INVALID_REQUEST, "The request's headers are not what HTTP allows")


class _Headers(Protocol):
    def get(self, name: str, /) -> str | None: ...


def allowed_headers(headers: _Headers, allowed: Sequence[str]) -> dict[str, str]:
    """Return the headers on the list, without those that hold control characters."""
    return {name: value for name in allowed if (value := headers.get(name)) and value.isprintable()}


def allowed_query(query: Mapping[str, Sequence[str]]) -> str:
    """Return the query string of the known parameters, with its question mark; "" if there are none."""
    pairs = [
        (name, value)
        for name, values in query.items()
        if name.replace("_", "").lower() in PARAMETERS
        for value in values
    ]
    return f"?{urlencode(pairs)}" if pairs else ""
