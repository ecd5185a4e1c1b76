"""Functions Framework hands over a Flask request; the rest of the house knows only `shared.http`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import flask
from werkzeug.datastructures import Headers
from werkzeug.exceptions import ClientDisconnected

from shared.http import JSON, Handler, Request, Response

_CHUNK_BYTES = 65536
_BROKEN = Response(
    status=500,
    headers={"content-type": JSON},
    body=b'{"error":{"code":500,"status":"INTERNAL","message":"Internal error"}}',
)


def entry_point(handle: Handler) -> Callable[[flask.Request], flask.Response]:
    """A plain function, as Functions Framework wants it, that answers every path and method with `handle`."""

    def function(request: flask.Request) -> flask.Response:
        try:
            answer = handle(
                Request(
                    method=request.method,
                    path=request.path,
                    target=request.environ.get("RAW_URI"),
                    headers=_Headers(request.environ),
                    query=request.args.to_dict(flat=False) if request.query_string else {},
                    read_body=lambda limit_bytes: _body(request, limit_bytes),
                )
            )
        except Exception:
            # The log has it (`Log.requests`); the framework would show its text to the caller.
            answer = _BROKEN
        return flask.Response(
            answer.body, status=answer.status, headers=Headers(list(answer.headers.items()))
        )

    return function


def _body(request: flask.Request, limit_bytes: int) -> bytes | None:
    length = request.content_length
    try:
        if length is None or length <= limit_bytes:
            data = b""
            while len(data) <= limit_bytes and (chunk := request.stream.read(limit_bytes + 1 - len(data))):
                data += chunk
                if len(data) == length:
                    return data
            if len(data) <= limit_bytes:
                return data
        # The framework would read the rest into memory before it answers.
        while request.stream.read(_CHUNK_BYTES):
            pass
    except ClientDisconnected:
        # The framework would stumble over it once more.
        request.stream = io.BytesIO()
        return b""
    return None


class _Headers(Mapping[str, str]):
    """The request's headers by lower-case name, read from the WSGI environment (PEP 3333) only when asked for."""

    __slots__ = ("_environ",)

    def __init__(self, environ: dict[str, Any]) -> None:
        self._environ = environ

    def __getitem__(self, name: str) -> str:
        value: str = self._environ[_variable(name)]
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """The header, or `default`."""
        return self._environ.get(_variable(name), default)

    def __iter__(self) -> Iterator[str]:
        for key in self._environ:
            if key in ("CONTENT_TYPE", "CONTENT_LENGTH"):
                yield key.lower().replace("_", "-")
            elif key.startswith("HTTP_"):
                yield key[5:].lower().replace("_", "-")

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def _variable(name: str) -> str:
    """The WSGI name of a header; only names that our own code asks for get here."""
    key = name.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else "HTTP_" + key
