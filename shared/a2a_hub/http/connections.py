"""Outgoing connections: every read and write is bounded by a deadline, and one that is idle is kept for the next request."""

from __future__ import annotations

import contextlib
import re
import select
import socket
import ssl
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from urllib.parse import quote, urlsplit

from msgspec import Struct

from a2a_hub.http.dialing import Names, connected
from a2a_hub.http.response_reader import IncomingAnswer, NotHttp

# gunicorn closes an idle connection after 2 s, Google's front end after several minutes: a connection that the other side
# may be closing right now is not used again, since a request lost that way must not be repeated.
_IDLE_SECONDS = {"http": 1.0, "https": 60.0}
# Until then it stays open all the same: agents such as Gemini CLI's take it for their client's leaving when we are the first to
# close it, and cancel what waits for a decision. Most servers close theirs sooner, which says nothing to anybody.
_OPEN_SECONDS = 60.0
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# RFC 9110 §5.5 and §5.6.2, and the same for the request line.
_HEAD = re.compile(rf"{_NAME} [!-~]+ HTTP/1\.1\r\n(?:{_NAME}: [\t\x20-\x7e\x80-\xff]*\r\n)*\r\n")
# A socket's timeout is set a little longer than wanted, and left as it is while it is near enough: to set it lets the
# interpreter's lock go.
_LONGER, _NEAR = 1.01, 1.02
_LEFT_AS_THEY_ARE = "/%:@!$&'()*+,;=~-._?"


class Origin(Struct, frozen=True):
    """Where a connection leads."""

    scheme: str
    host: str
    port: int


@lru_cache(maxsize=512)
def split(url: str) -> tuple[Origin, str]:
    """The origin of an http or https URL, and what the request line asks for."""
    parts = urlsplit(url)
    origin = Origin(parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return origin, quote(target, safe=_LEFT_AS_THEY_ARE)


class Connection:
    """One connection, for one request at a time. `clock` gives seconds that never go back.

    It leads to one of the addresses that `names` gives, whatever the name resolves to a moment later; the certificate is the
    name's.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        tls: Callable[[], ssl.SSLContext],
        clock: Callable[[], float],
        names: Names,
    ) -> None:
        self.origin = origin
        self._clock = clock
        self._tls = tls
        self._names = names
        self._socket: socket.socket | None = None
        self._quiet = select.poll()
        self._deadline = self._idle_seconds = self._timeout = 0.0

    def connect(self, *, deadline: float, seconds: float) -> None:
        """Connected by `deadline`, neither the connection nor TLS having taken longer than `seconds`.

        Raises OSError or ValueError; nothing of a request has been sent then.
        """
        raw = self._connected(_left(deadline, seconds, self._clock))
        try:
            raw.settimeout(_left(deadline, seconds, self._clock))
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.origin.scheme == "https":
                raw = self._tls().wrap_socket(raw, server_hostname=self.origin.host)
        except BaseException:
            raw.close()
            raise
        self._quiet.register(raw, select.POLLIN)
        self._socket = raw

    def limit(self, *, deadline: float, idle_seconds: float) -> None:
        """From now on, no read or write goes on after `deadline` on the clock, or waits for longer than `idle_seconds`."""
        self._deadline, self._idle_seconds = deadline, idle_seconds

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None
    ) -> IncomingAnswer:
        """The answer up to its headers. Raises OSError or NotHttp."""
        assert self._socket is not None, "exchange comes after connect"
        request = _written(method, target, self._host, headers, body)
        self._before_io()
        # A server that refuses a request early may answer, and close, before the request is sent to its end.
        with contextlib.suppress(BrokenPipeError):
            self._socket.sendall(request)
        answer = IncomingAnswer(self._received, has_body=method != "HEAD")
        answer.read_head()
        return answer

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
        return not self._quiet.poll(0)

    def close(self) -> None:
        """Closes the connection; idempotent."""
        if self._socket is not None:
            self._socket.close()

    def _connected(self, seconds: float) -> socket.socket:
        host, port = self.origin.host, self.origin.port
        deadline = self._clock() + seconds
        addresses = self._names.resolved(host, port, seconds=seconds)
        return connected(addresses, port, seconds=deadline - self._clock(), clock=self._clock)

    def _received(self, most_bytes: int) -> bytes:
        self._before_io()
        return self._socket.recv(most_bytes) if self._socket is not None else b""

    def _before_io(self) -> None:
        remaining = self._deadline - self._clock()
        if remaining <= 0:
            raise TimeoutError
        wanted = min(self._idle_seconds, remaining)
        if not wanted <= self._timeout <= wanted * _NEAR and self._socket is not None:
            self._timeout = wanted * _LONGER
            self._socket.settimeout(self._timeout)

    @cached_property
    def _host(self) -> str:
        """What the Host header says."""
        host, port = self.origin.host, self.origin.port
        host = host if host.isascii() else host.encode("idna").decode()
        host = f"[{host}]" if ":" in host else host
        return host if port == _DEFAULT_PORTS[self.origin.scheme] else f"{host}:{port}"


def _left(deadline: float, seconds: float, clock: Callable[[], float]) -> float:
    """A moment at least: no time at all would mean not to wait, or to wait for ever."""
    return max(0.001, min(seconds, deadline - clock()))


def _written(method: str, target: str, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """The whole request, to be sent at once: a head that is sent first wakes the other side to wait for the body.

    Raises NotHttp for a name or value that would be more than one header.
    """
    said = {"host": host, "accept-encoding": "identity"}
    if body is not None or method in _WITH_BODY:
        said["content-length"] = str(len(body or b""))
    for name, value in headers.items():
        said[name.lower()] = value
    lines = "".join([f"{name}: {value}\r\n" for name, value in said.items()])
    head = f"{method} {target} HTTP/1.1\r\n{lines}\r\n"
    # As many line ends as lines: none stands inside a value.
    if not _HEAD.fullmatch(head) or head.count("\n") != len(said) + 2:
        raise NotHttp
    return head.encode("latin-1") + (body or b"")


class IdleConnections:
    """Connections that wait for their next request, at most `most`: of more, the one that has waited longest is closed.

    Thread-safe; all are closed when nobody holds this any more.
    """

    def __init__(self, *, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[tuple[Connection, float]] = []
        weakref.finalize(self, _close_all, self._idle)

    def take(self, origin: Origin) -> Connection | None:
        """The connection used last, None when there is none that is certain to be alive."""
        while connection := self._last(origin):
            if connection.is_quiet():
                return connection
            connection.close()
        return None

    def put(self, connection: Connection) -> None:
        """Keeps a connection whose last answer was read to its end."""
        now = self._clock()
        given_up = []
        with self._lock:
            self._idle.append((connection, now))
            while len(self._idle) > self._most or now - self._idle[0][1] >= _OPEN_SECONDS:
                given_up.append(self._idle.pop(0))
        _close_all(given_up)

    def _last(self, origin: Origin) -> Connection | None:
        used_since = self._clock() - _IDLE_SECONDS[origin.scheme]
        with self._lock:
            for index in range(len(self._idle) - 1, -1, -1):
                connection, since = self._idle[index]
                if since <= used_since:
                    # Those before it have waited for longer.
                    return None
                if connection.origin == origin:
                    del self._idle[index]
                    return connection
        return None


def _close_all(idle: Iterable[tuple[Connection, float]]) -> None:
    for connection, _ in idle:
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
