"""Outgoing connections: every read and write is bounded by a deadline, and one that is idle is kept for the next request."""

from __future__ import annotations

import contextlib
import http.client
import io
import re
import select
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlsplit

from msgspec import Struct

# gunicorn closes an idle connection after 2 s, Google's front end after several minutes: a connection that the other side
# may be closing right now is not used again, since a request lost that way must not be repeated.
_IDLE_SECONDS = {"http": 1.0, "https": 60.0}
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
# RFC 9110 §5.5 and §5.6.2, and the same for the request line: no line in it ends before its end.
_LINE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+(?: [!-~]+ HTTP/1\.1|: [\t\x20-\x7e\x80-\xff]*)")
_LEFT_AS_THEY_ARE = "/%:@!$&'()*+,;=~-._?"


class Origin(Struct, frozen=True):
    """Where a connection leads."""

    scheme: str
    host: str
    port: int


Addresses = Callable[[str, int], Sequence[str]]
"""The IP addresses at which a host and port may be connected to, the best first; raises for a host that may not be."""


def split(url: str) -> tuple[Origin, str]:
    """The origin of an http or https URL, and what the request line asks for."""
    parts = urlsplit(url)
    origin = Origin(parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return origin, quote(target, safe=_LEFT_AS_THEY_ARE)


class Connection:
    """One connection, for one request at a time. `clock` gives seconds that never go back.

    With `addresses` it leads to one of these, whatever the name resolves to a moment later; the certificate is the name's.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        tls: Callable[[], ssl.SSLContext],
        clock: Callable[[], float],
        addresses: Addresses | None = None,
    ) -> None:
        self.origin = origin
        self._clock = clock
        self._tls = tls
        self._addresses = addresses
        self._http: http.client.HTTPConnection
        if origin.scheme == "https":
            self._http = http.client.HTTPSConnection(origin.host, origin.port, context=tls())
        else:
            self._http = http.client.HTTPConnection(origin.host, origin.port)
        self._socket: socket.socket | None = None
        self._deadline = self._idle_seconds = 0.0

    def connect(self, *, timeout_seconds: float) -> None:
        """Raises OSError; nothing of a request has been sent then."""
        self._http.timeout = timeout_seconds
        try:
            if self._addresses is None:
                self._http.connect()
            else:
                self._http.sock = self._connected(self._addresses, timeout_seconds)
        except BaseException:
            self._http.close()
            raise
        self._socket = self._http.sock

    def limit(self, *, deadline: float, idle_seconds: float) -> None:
        """From now on, no read or write goes on after `deadline` on the clock, or waits for longer than `idle_seconds`."""
        self._deadline, self._idle_seconds = deadline, idle_seconds

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None
    ) -> http.client.HTTPResponse:
        """The answer up to its headers. Raises OSError or HTTPException."""
        assert self._socket is not None, "exchange comes after connect"
        request = _written(method, target, self.origin, headers, body)
        self._before_io()
        # Who refuses a request early may have answered before it was sent to its end.
        with contextlib.suppress(BrokenPipeError):
            self._socket.sendall(request)
        response = _Response(self._socket, method=method, before_read=self._before_io)
        try:
            response.begin()
        except BaseException:
            response.close()
            raise
        return response

    def shut_down(self) -> None:
        """Wakes, from another thread, whoever waits on this connection."""
        if self._socket is not None:
            # Not SSLSocket's own, which takes the TLS state away from the thread that reads.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def is_quiet(self) -> bool:
        """The other side has neither closed the connection nor sent what nobody asked for."""
        if self._socket is None or self._socket.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        """Closes the connection; idempotent."""
        self._http.close()

    def _connected(self, addresses: Addresses, timeout_seconds: float) -> socket.socket:
        deadline = self._clock() + timeout_seconds
        failure: OSError = TimeoutError()
        for address in addresses(self.origin.host, self.origin.port):
            remaining = deadline - self._clock()
            if remaining <= 0:
                raise TimeoutError
            try:
                raw = socket.create_connection((address, self.origin.port), remaining)
            except OSError as error:
                failure = error
                continue
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.origin.scheme == "http":
                return raw
            return self._tls().wrap_socket(raw, server_hostname=self.origin.host)
        raise failure

    def _before_io(self) -> None:
        remaining = self._deadline - self._clock()
        if remaining <= 0:
            raise TimeoutError
        if self._socket is not None:
            self._socket.settimeout(min(self._idle_seconds, remaining))


def _written(
    method: str, target: str, origin: Origin, headers: Mapping[str, str], body: bytes | None
) -> bytes:
    """The whole request, to be sent at once: a head that is sent first wakes the other side to wait for the body.

    Raises HTTPException for a name or value that would be more than one header.
    """
    host = origin.host if origin.host.isascii() else origin.host.encode("idna").decode()
    host = f"[{host}]" if ":" in host else host
    if origin.port != _DEFAULT_PORTS[origin.scheme]:
        host = f"{host}:{origin.port}"
    said = {"host": host, "accept-encoding": "identity"}
    if body is not None or method in _WITH_BODY:
        said["content-length"] = str(len(body or b""))
    said |= {name.lower(): value for name, value in headers.items()}
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in said.items())]
    for line in lines:
        if not _LINE.fullmatch(line):
            raise http.client.HTTPException("a header that is no header")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")


class IdleConnections:
    """Connections that wait for their next request. Thread-safe; all are closed when nobody holds this any more."""

    def __init__(self, *, most_per_origin: int, clock: Callable[[], float]) -> None:
        self._most_per_origin = most_per_origin
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: dict[Origin, list[tuple[Connection, float]]] = {}
        weakref.finalize(self, _close_all, self._idle)

    def take(self, origin: Origin) -> Connection | None:
        """The connection used last, None when there is none that is certain to be alive."""
        while True:
            with self._lock:
                waiting = self._idle.get(origin)
                if not waiting:
                    return None
                connection, since = waiting.pop()
            if self._clock() - since < _IDLE_SECONDS[origin.scheme] and connection.is_quiet():
                return connection
            connection.close()

    def put(self, connection: Connection) -> None:
        """Keeps a connection whose last answer was read to its end."""
        with self._lock:
            waiting = self._idle.setdefault(connection.origin, [])
            waiting.append((connection, self._clock()))
            surplus = waiting.pop(0)[0] if len(waiting) > self._most_per_origin else None
        if surplus is not None:
            surplus.close()


def _close_all(idle: dict[Origin, list[tuple[Connection, float]]]) -> None:
    for waiting in idle.values():
        for connection, _ in waiting:
            connection.close()


class TlsContext:
    """The context for verifying servers, made on first use: loading the certificates takes its time."""

    @cached_property
    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def __call__(self) -> ssl.SSLContext:
        """The one context, shared by all connections."""
        return self._context


class _Response(http.client.HTTPResponse):
    """An answer that calls `before_read` before it reads from the socket, from the status line on."""

    def __init__(self, *args: Any, before_read: Callable[[], None], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fp = io.BufferedReader(_Limited(self.fp.detach(), before_read))


class _Limited(io.RawIOBase):
    def __init__(self, raw: io.RawIOBase, before_read: Callable[[], None]) -> None:
        self._raw = raw
        self._before_read = before_read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._before_read()
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()
