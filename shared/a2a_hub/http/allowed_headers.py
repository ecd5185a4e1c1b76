"""The headers that pass through a function to the one behind it and back: allow-lists, since no deny-list has all names."""

from collections.abc import Mapping, Sequence

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
    # The function's own: a caller's never gets here (`Log.requests`).
    "x-request-id",
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


def allowed_headers(headers: Mapping[str, str], allowed: Sequence[str]) -> dict[str, str]:
    """Return the headers on the list, without those that hold control characters."""
    return {name: value for name in allowed if (value := headers.get(name)) and value.isprintable()}
