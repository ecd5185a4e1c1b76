"""A small HTTP server on a port of its own; the test writes every byte of its answers."""

import contextlib
import itertools
import json
import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Self

JSON = "application/json"
_RESET = struct.pack("ii", 1, 0)
# Each process of the tests goes through ports of its own, one after the other, below those that systems give out again at once:
# what still asks a server that has ended reaches no later test's server.
_PORTS_OF_A_PROCESS = 1_250
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 4
_numbers = itertools.count(os.getpid())


@dataclass(frozen=True)
class Received:
    """A request; header names are lower case. `connection` numbers the connection that it came in on."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


class Exchange:
    """One request, and the connection to answer it on."""

    def __init__(self, received: Received, connection: socket.socket, ending: threading.Event) -> None:
        self.received = received
        self._connection = connection
        self._ending = ending
        self.keeps_connection = False

    def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self._connection.sendall(data)

    def head(self, status: int = 200, **headers: str) -> None:
        """Sends the status line and headers: `content_type="text/html"`. The body ends with the connection."""
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode())

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Sends a whole answer, after which the connection may be used again."""
        self.head(status, **headers, content_length=str(len(body)))
        self.send(body)
        self.keeps_connection = True

    def json(self, value: Any, status: int = 200) -> None:
        """Sends a whole JSON answer."""
        self.answer(status, json.dumps(value).encode(), content_type=JSON)

    def start_stream(self) -> None:
        """Sends the head of an event stream."""
        self.head(content_type="text/event-stream")

    def event(self, value: Any) -> None:
        """Sends one event of a stream."""
        self.send(b"data: " + json.dumps(value).encode() + b"\n\n")

    def close(self) -> None:
        """Ends the connection now."""
        self._connection.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """Ends the connection so that the other side sees a reset."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._connection.close()

    def pause(self, seconds: float) -> None:
        """Lets time pass between two bytes."""
        self._ending.wait(seconds)

    def is_left(self) -> bool:
        """Return True if the other side has closed the connection by now; it must have nothing more to say."""
        try:
            return self._connection.recv(1, socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False

    def wait_until_left(self) -> None:
        """Returns when the other side has closed the connection, or the server ends."""
        with contextlib.suppress(OSError):
            while self._connection.recv(65536):
                pass


Behaviour = Callable[[Exchange], None]


class HttpServer:
    """Serves `behave` on 127.0.0.1 while it is entered; `received` holds every request, `connections` counts them.

    `greeting` is sent on every new connection before anything is read. Without `reads_bodies`, answers come before bodies.
    `port` is one that the test has chosen.
    """

    def __init__(
        self,
        behave: Behaviour,
        *,
        greeting: bytes = b"",
        listens: bool = True,
        reads_bodies: bool = True,
        port: int = 0,
    ) -> None:
        self.behave = behave
        self.received: list[Received] = []
        self.connections = 0
        self._greeting = greeting
        self._socket = _bound(port)
        if listens:
            self._socket.listen()
        self.port: int = self._socket.getsockname()[1]
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listens = listens
        self._reads_bodies = reads_bodies

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        if self._listens:
            self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def listen(self) -> None:
        """Starts to accept connections, where the server was made with `listens=False`."""
        if not self._listens:
            self._listens = True
            self._socket.listen()
            self._start(self._accept)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                self.connections += 1
                with self._lock:
                    self._open.add(connection)
                    if self._ending.is_set():
                        # `__exit__` may have shut down the connections before this one was among them.
                        connection.shutdown(socket.SHUT_RDWR)
                self._start(self._serve, connection, self.connections)

    def _serve(self, connection: socket.socket, number: int) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(self._greeting)
            with connection.makefile("rb") as reader:
                for received in _requests(reader, number, reads_bodies=self._reads_bodies):
                    self.received.append(received)
                    exchange = Exchange(received, connection, self._ending)
                    self.behave(exchange)
                    if not exchange.keeps_connection:
                        break
        except OSError:
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


def _requests(reader: Any, connection: int, *, reads_bodies: bool) -> Iterator[Received]:
    while True:
        words = reader.readline().decode("latin-1").split()
        if len(words) != 3:
            return
        headers = {}
        while line := reader.readline().decode("latin-1").strip():
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        length = int(headers.get("content-length", 0)) if reads_bodies else 0
        body = reader.read(length)
        if len(body) < length:
            # The connection was closed in the middle of it.
            return
        yield Received(words[0], words[1], headers, body, connection)


def _bound(port: int) -> socket.socket:
    """A socket that refuses connections until it listens, on the next free port of this process if `port` is 0."""
    for number in itertools.islice(_numbers, _PORTS_OF_A_PROCESS):
        taken = socket.socket()
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", port or 10_000 + _worker * _PORTS_OF_A_PROCESS + number % _PORTS_OF_A_PROCESS))
        except OSError:
            taken.close()
            if port:
                raise
        else:
            return taken
    raise OSError("no port is free")
