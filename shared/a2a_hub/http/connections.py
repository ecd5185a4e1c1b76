"""Outgoing connections: every read and write has a deadline, and idle connections are reused."""

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
# may be closing right now is not reused, since a lost request must not be repeated.
_IDLE_SECONDS = {"http": 1.0, "https": 60.0}
# An idle connection stays open longer than it is reused: agents such as Gemini CLI's take our closing for their client's
# leaving, and cancel tool calls that wait for a decision. Most servers close theirs sooner, which has no such effect.
_OPEN_SECONDS = 60.0
_DEFAULT_PORTS = {"http": 80, "https": 443}
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})
_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# RFC 9110 §5.5 and §5.6.2, and the same for the request line.
_HEAD = re.compile(rf"{_NAME} [!-~]+ HTTP/1\.1\r\n(?:{_NAME}: [\t\x20-\x7e\x80-\xff]*\r\n)*\r\n")
# A socket's timeout is set a little longer than wanted, and kept while it is near enough: setting it releases the
# interpreter's lock.
_LONGER, _NEAR = 1.01, 1.02
_LEFT_AS_THEY_ARE = "/%:@!$&'()*+,;=~-._?"


class Origin(Struct, frozen=True):
    """The scheme, host and port of a connection."""

    scheme: str
    host: str
    port: int


@lru_cache(maxsize=512)
def split(url: str) -> tuple[Origin, str]:
    """Return the origin of an http or https URL, and the target of its request line."""
    parts = urlsplit(url)
    origin = Origin(parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return origin, quote(target, safe=_LEFT_AS_THEY_ARE)


class Connection:
    """One connection, for one request at a time. `clock` returns seconds that never go back.

    It leads to one of the addresses that `names` returned, even if the name resolves differently later; the certificate is
    checked against the name.
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
        """Connect by `deadline`, with at most `seconds` each for the connection and TLS.

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
        """Limit all further reads and writes to `deadline` on the clock, and each wait to `idle_seconds`."""
        self._deadline, self._idle_seconds = deadline, idle_seconds

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes | None
    ) -> IncomingAnswer:
        """Send the request and return the answer up to its headers. Raises OSError or NotHttp."""
        assert self._socket is not None, "exchange comes after connect"
        request = _written(method, target, self._host, headers, body)
        self._before_io()
        # A server that refuses a request early may answer and close before it has received all of it.
        with contextlib.suppress(BrokenPipeError):
            self._socket.sendall(request)
        answer = IncomingAnswer(self._received, has_body=method != "HEAD")
        answer.read_head()
        return answer

    def shut_down(self) -> None:
        """Wake a thread that waits on this connection; called from another one."""
        if self._socket is not None:
            # SSLSocket's own would take the TLS state away from the thread that reads.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def is_quiet(self) -> bool:
        """Return True if the other side has neither closed the connection nor sent anything unexpected."""
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
        """The Host header."""
        host, port = self.origin.host, self.origin.port
        host = host if host.isascii() else host.encode("idna").decode()
        host = f"[{host}]" if ":" in host else host
        return host if port == _DEFAULT_PORTS[self.origin.scheme] else f"{host}:{port}"


def _left(deadline: float, seconds: float, clock: Callable[[], float]) -> float:
    """Return the remaining seconds, at least a moment: a timeout of zero would mean not to wait, or to wait for ever."""
    return max(0.001, min(seconds, deadline - clock()))


def _written(method: str, target: str, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    """Return the whole request, to be sent at once: a head that is sent first wakes the other side to wait for the body.

    Raises NotHttp for a name or value that would be more than one header.
    """
    fields = {"host": host, "accept-encoding": "identity"}
    if body is not None or method in _WITH_BODY:
        fields["content-length"] = str(len(body or b""))
    for name, value in headers.items():
        fields[name.lower()] = value
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields.items()])
    head = f"{method} {target} HTTP/1.1\r\n{lines}\r\n"
    # As many line ends as lines, so none inside a value.
    if not _HEAD.fullmatch(head) or head.count("\n") != len(fields) + 2:
        raise NotHttp
    return head.encode("latin-1") + (body or b"")


class IdleConnections:
    """Idle connections, at most `most`: beyond that, the one that has been idle longest is closed.

    Thread-safe. All are closed when this object is collected.
    """

    def __init__(self, *, most: int, clock: Callable[[], float]) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._idle: list[tuple[Connection, float]] = []
        weakref.finalize(self, _close_all, self._idle)

    def take(self, origin: Origin) -> Connection | None:
        """Return the connection used last, None if none is certain to be alive."""
        while connection := self._last(origin):
            if connection.is_quiet():
                return connection
            connection.close()
        return None

    def put(self, connection: Connection) -> None:
        """Add a connection whose last answer was read to its end."""
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
                    # The connections before it have been idle for longer.
                    return None
                if connection.origin == origin:
                    del self._idle[index]
                    return connection
        return None


def _close_all(idle: Iterable[tuple[Connection, float]]) -> None:
    for connection, _ in idle:
        connection.close()


class TlsContext:
    """The context for verifying servers, made on first use: loading the certificates takes time."""

    @cached_property
    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def __call__(self) -> ssl.SSLContext:
        """Return the one context, shared by all connections."""
        return self._context
