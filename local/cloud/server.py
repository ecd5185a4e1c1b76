"""Serves a stand-in's handler over HTTP/1.1 on this machine's loopback interface."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, unquote, urlsplit

from a2a_hub.http.messages import Handler, Request, Response, body_of
from local.ports import LOOPBACK


class Server:
    """`handle` at `url` while it is entered; port 0 takes a free one. Every request has a thread of its own."""

    def __init__(self, handle: Handler, *, port: int = 0) -> None:
        self._http = _Threads((LOOPBACK, port), _handler(handle))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        """The address, without a trailing slash."""
        return f"http://{LOOPBACK}:{self._http.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


class _Threads(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128


def _handler(handle: Handler) -> type[BaseHTTPRequestHandler]:
    class OneConnection(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self._body()
            answer = handle(
                Request(
                    method=self.command,
                    path=unquote(parts.path),
                    target=self.path,
                    headers={name.lower(): value for name, value in self.headers.items()},
                    query=parse_qs(parts.query, keep_blank_values=True),
                    read_body=body_of(body),
                )
            )
            try:
                self._answer(answer)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - http.server's names

        def _body(self) -> bytes:
            if self.headers.get("transfer-encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("content-length", "0")))
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(chunks)

        def _answer(self, answer: Response) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if isinstance(answer.body, bytes):
                if answer.status not in (204, 304):
                    self.send_header("content-length", str(len(answer.body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer.body)
                return
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for chunk in answer.body:
                    self.wfile.write(chunk)
                    self.wfile.flush()
            finally:
                close = getattr(answer.body, "close", None)
                if close is not None:
                    close()

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    return OneConnection
