"""Allow-lists of the headers, parameters and methods that pass the gate: a deny-list would never be complete."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from a2a_hub.a2a.errors import HEADERS_TOO_LARGE, INVALID_REQUEST, A2AError

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
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def check_target(target: str | None, path: str) -> None:
    """Raise INVALID_REQUEST for a path with empty or dot segments, escapes, or anything but plain characters.

    `path` is the server's reading of `target`, and must equal it: a path with two readings is an attack, or will become one.
    """
    raw_path = path if target is None else target.partition("?")[0]
    if len(path) > _MAX_PATH_CHARACTERS or raw_path != path or not _PATH.fullmatch(path):
        raise A2AError(INVALID_REQUEST, "The path is not one that an A2A request has")


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise an error for oversized headers (431), and for headers that proxies interpret differently (400)."""
    values = "".join(headers.values())
    if len(values) + sum(map(len, headers)) > _MAX_HEADER_BYTES:
        raise A2AError(HEADERS_TOO_LARGE)
    if _CONTROL.search(values) or headers.get("transfer-encoding", "chunked").lower() != "chunked":
        raise A2AError(INVALID_REQUEST, "The request's headers are not what HTTP allows")


def allowed_query(query: Mapping[str, Sequence[str]]) -> str:
    """Return the query string of the known parameters, with its question mark; "" if there are none."""
    pairs = [
        (name, value)
        for name, values in query.items()
        if name.replace("_", "").lower() in PARAMETERS
        for value in values
    ]
    return f"?{urlencode(pairs)}" if pairs else ""
