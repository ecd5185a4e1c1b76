"""Serves a World over HTTP on this machine's loopback interface."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from local.gemini_enterprise import api, oauth
from local.gemini_enterprise.errors import ApiError, response
from local.gemini_enterprise.world import World
from shared.http import Request, Response, body_of


def handle(world: World, request: Request) -> Response:
    """The answer of the host that the path's first segment names."""
    host, _, rest = request.path.lstrip("/").partition("/")
    with world.lock:
        match (host, f"/{rest}", request.method):
            case ("oauth2.googleapis.com", "/token", "POST"):
                return oauth.token(world, request)
            case ("accounts.google.com", "/o/oauth2/v2/auth", "GET"):
                return oauth.consent(world, request)
            case (_, path, _) if api.serves(host):
                return api.handle(world, host, path, request)
            case _:
                return response(ApiError("NOT_FOUND", f"Nothing is served at {host}/{rest}."))


class Server:
    """A World at `url` while it is entered. `seen` is told method, path and status of every request."""

    def __init__(
        self, world: World, *, port: int = 0, seen: Callable[[str, str, int], None] | None = None
    ) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _handler(world, seen))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """The address of this machine's end."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def endpoint(self) -> str:
        """The address of every one of Google's hosts, for `hubctl register --endpoint`."""
        return f"{self.url}/{{host}}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _handler(world: World, seen: Callable[[str, str, int], None] | None) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one write: no waiting for an acknowledgement between them

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = self.headers.get("content-length", "0")
            answer = handle(
                world,
                Request(
                    method=self.command,
                    path=unquote(parts.path),
                    headers={name.lower(): value for name, value in self.headers.items()},
                    query=parse_qs(parts.query, keep_blank_values=True),
                    read_body=body_of(self.rfile.read(int(length) if length.isdigit() else 0)),
                ),
            )
            body = answer.body if isinstance(answer.body, bytes) else b"".join(answer.body)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            if seen is not None:
                seen(self.command, self.path, answer.status)

        do_GET = do_POST = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Says nothing: `seen` is told."""

    return Handler
