"""The adapter to Functions Framework, which serves a Flask application. Other modules know only `a2a_hub.http.messages`.

A request goes from the WSGI environment (PEP 3333) to the handler and its answer back to the server: Flask's dispatch,
which knows one view, would take as long as everything that a hub does (docs/decisions/speed.md).
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import flask

from a2a_hub.http.messages import JSON, Handler, Request, Response, close_if_closable
from a2a_hub.http.request_body import RequestBody

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

__all__ = ["entry_point"]

# Only on Linux (tcp(7)).
_CORK: int | None = getattr(socket, "TCP_CORK", None)
_INTERNET = frozenset({socket.AF_INET, socket.AF_INET6})
_BODILESS = frozenset({204, 304})
_INTERNAL = Response(
    status=500,
    headers={"content-type": JSON},
    body=b'{"error":{"code":500,"status":"INTERNAL","message":"Internal error"}}',
)


def entry_point(handle: Handler) -> Callable[[flask.Request], WSGIApplication]:
    """Return the function for Functions Framework, which answers every path and method with `handle`.

    The framework loads a function inside its application's context; requests then reach `handle` without Flask in between.
    """
    application = _application(handle)
    if flask.has_app_context():
        flask.current_app.wsgi_app = application  # type: ignore[assignment, method-assign]
    # Flask takes a WSGI application for an answer.
    return lambda _: application


def _application(handle: Handler) -> WSGIApplication:
    def application(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        body = RequestBody(environ)
        method = environ["REQUEST_METHOD"]
        query = environ.get("QUERY_STRING")
        try:
            answer = handle(
                Request(
                    method=method,
                    path=_as_utf8(environ.get("PATH_INFO")) or "/",
                    target=environ.get("RAW_URI"),
                    headers=_Headers(environ),
                    query=parse_qs(_as_utf8(query), keep_blank_values=True) if query else {},
                    read_body=body.read,
                    client_is_there=body.client_is_there,
                )
            )
        except Exception:
            # The log has it (`Log.requests`); the server would show its text to the caller.
            answer = _INTERNAL
        body.discard()
        content = answer.body
        headers = list(answer.headers.items())
        bodiless = answer.status in _BODILESS
        if isinstance(content, bytes) and not bodiless:
            headers.append(("content-length", str(len(content))))
        if bodiless or method == "HEAD":
            close_if_closable(content)
            content = b""
        start_response(_status_line(answer.status), headers)
        return _CorkedBody(content, environ.get("gunicorn.socket")) if isinstance(content, bytes) else content

    return application


class _CorkedBody(list[bytes]):
    """A whole body that leaves together with its head: gunicorn sends one after the other, which wakes the client twice."""

    __slots__ = ("_socket",)

    def __init__(self, content: bytes, connection: socket.socket | None) -> None:
        self.append(content)
        self._socket = connection if connection is not None and connection.family in _INTERNET else None
        self._hold(True)

    def close(self) -> None:
        """Uncork the connection; called by the server when it has sent everything (PEP 3333)."""
        self._hold(False)

    def _hold(self, held: bool) -> None:
        if self._socket is not None and _CORK is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _CORK, held)


def _as_utf8(text: str | None) -> str:
    """Return text of the environment, which is Latin-1 for want of bytes (PEP 3333), as the UTF-8 that it is."""
    return text.encode("latin-1").decode("utf-8", "replace") if text and not text.isascii() else text or ""


@cache
def _status_line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        # The gate may pass on an unregistered status.
        return f"{status} Unknown"


class _Headers(Mapping[str, str]):
    """The request's headers by lower-case name, read from the WSGI environment (PEP 3333) only when asked for."""

    __slots__ = ("_environ",)

    def __init__(self, environ: dict[str, Any]) -> None:
        self._environ = environ

    def __getitem__(self, name: str) -> str:
        value: str = self._environ[_variable(name)]
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """Return the header, or `default`."""
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
    """Return the WSGI name of a header. Only names that our own code asks for get here."""
    key = name.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else "HTTP_" + key
