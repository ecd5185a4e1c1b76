"""A line between a client and a server that can be cut, and whose answers can get lost."""

import contextlib
import socket
import threading
from typing import Self

# HTTP/2's acknowledgements and window updates are shorter, and no answers.
_CONTROL_BYTES = 40


class TcpProxy:
    """Forwards what comes to `address` to `target` while it is entered, as long as it is not cut."""

    def __init__(self, target: str, *others: str) -> None:
        """With `others`, each connection goes to the next of them that takes it: a round robin."""
        self._targets = [_address(each) for each in (target, *others)]
        self._turn = 0
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._cut = False
        self._loses_answers = False
        self.answer_lost = threading.Event()

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def cut(self) -> None:
        """Every connection has ended, and each new one ends at once."""
        with self._lock:
            self._cut = True
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        """New connections are forwarded again, both ways."""
        self._cut = False
        self._loses_answers = False

    def leave_out(self, target: str) -> None:
        """New connections go to the others."""
        self._targets = [each for each in self._targets if each != _address(target)]

    def take_in(self, target: str) -> None:
        """New connections go to this one as well."""
        self._targets = [*self._targets, _address(target)]

    def lose_answers(self) -> None:
        """From now on the server hears the client, and the connection is cut in the place of the answer."""
        self._loses_answers = True

    def _start(self, target: object, *arguments: object) -> None:
        assert callable(target)
        thread = threading.Thread(target=target, args=arguments)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._socket.accept()
                with self._lock:
                    if self._cut:
                        client.close()
                        continue
                    server = self._connection()
                    if server is None:
                        client.close()
                        continue
                    self._open |= {client, server}
                self._start(self._forward, client, server, False)
                self._start(self._forward, server, client, True)

    def _connection(self) -> socket.socket | None:
        targets = self._targets
        for _ in targets:
            self._turn = (self._turn + 1) % len(targets)
            with contextlib.suppress(OSError):
                return socket.create_connection(targets[self._turn])
        return None

    def _forward(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if answers and self._loses_answers and len(data) > _CONTROL_BYTES:
                    self.answer_lost.set()
                    break
                sink.sendall(data)
        with self._lock:
            self._open -= {source, sink}
            for one in (source, sink):
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
        source.close()


def _address(target: str) -> tuple[str, int]:
    host, _, port = target.rpartition(":")
    return host, int(port)
