"""HTTP as plain values: what the entry point hands in and gets back, whatever the web framework."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

JSON = "application/json"
A2A_JSON = "application/a2a+json"
EVENT_STREAM = "text/event-stream"
PROBLEM_JSON = "application/problem+json"


class Body(Protocol):
    """Reads the request's body once. Returns None when it is longer than `limit_bytes`."""

    def __call__(self, limit_bytes: int) -> bytes | None:
        """The body, or None."""
        ...


class Request(Struct, frozen=True, kw_only=True):
    """One request. Header names are lower case; `query` keeps every value of a repeated parameter.

    `path` is decoded; `target` is what the request line really asked for, None where that is not known. `client_is_there` is
    for answers that take long: false when whoever asked has certainly left.
    """

    method: str
    path: str
    target: str | None = None
    headers: Mapping[str, str] = {}
    query: Mapping[str, Sequence[str]] = {}
    read_body: Body = lambda _: b""
    client_is_there: Callable[[], bool] = lambda: True

    def parameter(self, name: str) -> str | None:
        """The first value of a query parameter, its name in any case; None where it is absent."""
        return next(iter(self.parameters(name)), None)

    def parameters(self, name: str) -> list[str]:
        """All values of a query parameter, its name in any case."""
        query = self.query.items() if self.query else ()
        return [value for key, values in query if key.lower() == name.lower() for value in values]

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters, in lower case; "" where there is none."""
        return self.headers.get("content-type", "").split(";", 1)[0].strip().lower()


class Response(Struct, frozen=True, kw_only=True):
    """One answer: bytes, or an iterator of chunks that is sent as it yields and closed when the client leaves."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes | Iterator[bytes] = b""


Handler = Callable[[Request], Response]


def body_of(data: bytes) -> Body:
    """A Body over bytes in memory."""
    return lambda limit_bytes: data if len(data) <= limit_bytes else None
