"""A load generator of our own: `python -m bench.keep_alive PORT CONNECTIONS SECONDS`, the question as JSON on standard input.

One thread, sockets and epoll (or what the system has), nothing between: at a busy share well below 1 it is not what is measured.
"""

import json
import selectors
import socket
import statistics
import sys
import time

from bench.question import ANSWER, Question
from local.ports import LOOPBACK

_LONGEST_ANSWER_SECONDS = 10.0


class _Connection:
    """One connection with one request under way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((LOOPBACK, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = 0.0
        self._received = b""

    def send(self, request: bytes) -> None:
        self._received = b""
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def answer(self) -> bytes | None:
        """Return the whole answer once it is there; b"" when the server hung up."""
        data = self.socket.recv(65536)
        if not data:
            return b""
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if not separator:
            return None
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
        return self._received if len(body) >= int(length) else None


def main(port: int, connections: int, seconds: float, question: Question) -> dict[str, float]:
    """Put the load on a server and return the totals, under the names that `bench.load` reads."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in question.headers.items())
    head = f"POST / HTTP/1.1\r\nhost: {LOOPBACK}:{port}\r\n{lines}content-length: ".encode()
    durations: list[float] = []
    number = errors = 0

    def request() -> bytes:
        nonlocal number
        number += 1
        body = question.body(number)
        return b"%s%d\r\n\r\n%s" % (head, len(body), body)

    with selectors.DefaultSelector() as waiting:
        for _ in range(connections):
            connection = _Connection(port)
            waiting.register(connection.socket, selectors.EVENT_READ, connection)
        started = time.perf_counter()
        for key in waiting.get_map().values():
            key.data.send(request())
        while (now := time.perf_counter()) < started + seconds:
            ready = waiting.select(_LONGEST_ANSWER_SECONDS)
            if not ready:
                errors += len(waiting.get_map())
                break
            for key, _ in ready:
                answer = key.data.answer()
                if answer is None:
                    continue
                durations.append(time.perf_counter() - key.data.sent_at)
                errors += not (answer.startswith(b"HTTP/1.1 200 ") and ANSWER in answer)
                if not answer:
                    waiting.unregister(key.fileobj)
                    continue
                key.data.send(request())
    cuts = statistics.quantiles(durations, n=100) if len(durations) > 1 else [0.0] * 99
    return {
        "requests": len(durations),
        "errors": errors,
        "seconds": now - started,
        "p50_ms": cuts[49] * 1e3,
        "p99_ms": cuts[98] * 1e3,
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Question(**json.load(sys.stdin)))))
