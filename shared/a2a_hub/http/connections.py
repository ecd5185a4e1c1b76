"""Outgoing connections and the answers on them (RFC 9112), parsed by llhttp: every read and write has a deadline, and idle
connections are reused.
"""

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

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser
from msgspec import Struct

from a2a_hub.http.dialing import Resolver, connect_first
from a2a_hub.http.messages import Headers

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
_CHUNK_BYTES = 65536
_MAX_HEADERS = 100


class Origin(Struct, frozen=True):
    """The scheme, host and port of a connection."""

    scheme: str
    host: str
    port: int


@lru_cache(maxsize=512)
def split_url(url: str) -> tuple[Origin, str]:
    """Return the origin of an http or https URL, and the target of its request line."""
    parts = urlsplit(url)
    origin = Origin(parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS[parts.scheme])
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return origin, quote(target, safe=_LEFT_AS_THEY_ARE)


def open_connection(
    origin: Origin,
    *,
    tls: Callable[[], ssl.SSLContext],
    clock: Callable[[], float],
    resolver: Resolver,
    deadline: float,
    seconds: float,
) -> Connection:
    """Connect by `deadline`, with at most `seconds` each for the connection and TLS.

    The connection leads to one of the addresses that `resolver` returned, even if the name resolves differently later; the
    certificate is checked against the name. Raises OSError or ValueError; nothing of a request has been sent then.
    """
    seconds_to_connect = _remaining_seconds(deadline, seconds, clock)
    latest = clock() + seconds_to_connect
    addresses = resolver.resolve(origin.host, origin.port, seconds=seconds_to_connect)
    raw = connect_first(addresses, origin.port, seconds=latest - clock(), clock=clock)
    try:
        raw.settimeout(_remaining_seconds(deadline, seconds, clock))
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if origin.scheme == "https":
            raw = tls().wrap_socket(raw, server_hostname=origin.host)
    except BaseException:
        raw.close()
        raise
    return Connection(origin, raw, clock=clock)


class Connection:
    """One connection, for one request at a time. `clock` returns seconds that never go back."""

    def __init__(self, origin: Origin, connected: socket.socket, *, clock: Callable[[], float]) -> None:
        self.origin = origin
        self._clock = clock
        self._socket = connected
        self._quiet = select.poll()
        self._quiet.register(connected, select.POLLIN)
        self._deadline = self._idle_seconds = self._timeout = 0.0

    def limit(self, *, deadline: float, idle_seconds: float) -> None:
        """Limit all further reads and writes to `deadline` on the clock, and each wait to `idle_seconds`."""
        self._deadline, self._idle_seconds = deadline, idle_seconds

    def send(self, method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> IncomingResponse:
        """Send the request and return the answer, of which nothing is read yet. Raises OSError or NotHttp."""
        request = _request_bytes(method, target, self._host, headers, body)
        self._before_io()
        # A server that refuses a request early may answer and close before it has received all of it.
        with contextlib.suppress(BrokenPipeError):
            self._socket.sendall(request)
        return IncomingResponse(self._receive, has_body=method != "HEAD")

    def shut_down(self) -> None:
        """Wake a thread that waits on this connection; called from another one."""
        # SSLSocket's own would take the TLS state away from the thread that reads.
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def is_quiet(self) -> bool:
        """Return True if the other side has neither closed the connection nor sent anything unexpected."""
        return self._socket.fileno() >= 0 and not self._quiet.poll(0)

    @property
    def file_number(self) -> int:
        """The number by which the operating system knows the connection, -1 if it is closed."""
        return self._socket.fileno()

    def has_input(self) -> bool:
        """Return True if something, perhaps the end, can be read without waiting."""
        pending = self._socket.pending() if isinstance(self._socket, ssl.SSLSocket) else 0
        return bool(pending) or not self.is_quiet()

    def close(self) -> None:
        """Close the connection; idempotent."""
        self._socket.close()

    def _receive(self, max_bytes: int) -> bytes:
        self._before_io()
        return self._socket.recv(max_bytes)

    def _before_io(self) -> None:
        remaining = self._deadline - self._clock()
        if remaining <= 0:
            raise TimeoutError
        wanted = min(self._idle_seconds, remaining)
        if not wanted <= self._timeout <= wanted * _NEAR:
            self._timeout = wanted * _LONGER
            self._socket.settimeout(self._timeout)

    @cached_property
    def _host(self) -> str:
        host, port = self.origin.host, self.origin.port
        host = host if host.isascii() else host.encode("idna").decode()
        host = f"[{host}]" if ":" in host else host
        return host if port == _DEFAULT_PORTS[self.origin.scheme] else f"{host}:{port}"


def _remaining_seconds(deadline: float, seconds: float, clock: Callable[[], float]) -> float:
    """Return the remaining seconds, at least a moment: a timeout of zero would mean not to wait, or to wait for ever."""
    return max(0.001, min(seconds, deadline - clock()))


def _request_bytes(method: str, target: str, host: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
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


class ConnectionPool:
    """Idle connections, at most `max_idle`: beyond that, the one that has been idle longest is closed.

    Thread-safe. All are closed when this object is collected.
    """

    def __init__(self, *, max_idle: int, clock: Callable[[], float]) -> None:
        self._max_idle = max_idle
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
            while len(self._idle) > self._max_idle or now - self._idle[0][1] >= _OPEN_SECONDS:
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


def verifying_context() -> ssl.SSLContext:
    """Return a context for verifying servers."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


class NotHttp(Exception):
    """Input or output that is not HTTP."""


_NO_HEADERS = Headers(())


class IncomingResponse:
    """One response. `receive(n)` returns at most n received bytes, none if the other side has closed.

    Input that adds neither to the head's end nor to the body is bounded, which bounds the head, trailers and chunk extensions.
    llhttp calls the methods on_….
    """

    def __init__(self, receive: Callable[[int], bytes], *, has_body: bool) -> None:
        self.status = 0
        self.headers = _NO_HEADERS
        self._receive = receive
        self._has_body = has_body
        self._items: list[tuple[bytes, bytes]] = []
        self._pieces: list[bytes] = []
        self._allowance = _CHUNK_BYTES
        self._keeps_connection = self._complete = self._broken = False
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        # RFC 9112 §2.2 and §7.1.1 let a recipient read both, and servers by hand send them.
        self._parser.set_dangerous_leniencies(lenient_optional_cr_before_lf=True, lenient_spaces_after_chunk_size=True)

    def read_head(self) -> None:
        """Read `status` and `headers`. Interim answers are skipped. Raises OSError and NotHttp.

        After a TimeoutError, a further call reads on.
        """
        while not self.status:
            if not self._read_on():
                raise ConnectionResetError
            if self._broken and not self.status:
                raise NotHttp

    def piece(self) -> bytes:
        """Return the next received part of the body, b"" at its end.

        Raises OSError, also for a body that breaks off, and NotHttp for one that is framed wrongly.
        """
        while not self._pieces:
            if self._complete:
                return b""
            if self._broken:
                raise NotHttp
            if not self._read_on():
                if self.headers.get("content-length") or self.headers.get("transfer-encoding"):
                    raise ConnectionResetError
                self._complete = True
        piece = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        self._pieces.clear()
        return piece

    @property
    def has_piece(self) -> bool:
        """True if `piece` returns, or raises, without reading on."""
        return bool(self._pieces) or self._complete or self._broken

    @property
    def leaves_connection(self) -> bool:
        """True if the answer is complete, nothing came after it, and the other side is ready for another request."""
        return self._complete and self._keeps_connection

    def _read_on(self) -> bool:
        """Parse more input; False at the end of the connection."""
        data = self._receive(self._allowance)
        if not data:
            return False
        assert self._parser is not None, "nothing is read after the end"
        self._allowance -= len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._keeps_connection = False
            self._broken = True
        if not self._allowance:
            self._broken = True
        if self._complete or self._broken:
            # Parser and reader refer to each other: released here, they are freed without the garbage collector.
            self._parser = None
        return True

    def on_message_begin(self) -> None:
        """Note the begin of an answer, interim ones and unexpected ones included."""
        if self._complete:
            self._keeps_connection = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers are ignored."""
        if not self.status:
            self._items.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Take the status and headers over, unless the answer is interim. Raises NotHttp for an answer that would end HTTP."""
        assert self._parser is not None, "llhttp is at work"
        status = self._parser.get_status_code()
        if self.status:
            return
        if len(self._items) > _MAX_HEADERS or status < 100 or status == 101:
            raise NotHttp
        if status < 200:
            self._items.clear()
            return
        self.status = status
        self.headers = Headers(self._items)
        self._keeps_connection = self._parser.should_keep_alive()
        self._complete = not self._has_body
        self._allowance = _CHUNK_BYTES

    def on_body(self, piece: bytes) -> None:
        """Keep a piece of the body."""
        if self._complete:
            self._keeps_connection = False
        elif self.status:
            self._pieces.append(piece)
            self._allowance = _CHUNK_BYTES

    def on_message_complete(self) -> None:
        """Note the end of the answer, unless it is interim."""
        self._complete = self.status > 0
