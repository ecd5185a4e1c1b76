"""Puts load on a server: a process of its own keeps connections busy, each with one question at a time."""

import itertools
import json
import os
import resource
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from local.ports import LOOPBACK

TOKEN = "bench"
_TEXT = "What is the height of Mount Fuji?"
ANSWER = b"hello world"
_LONGEST_ANSWER_SECONDS = 10.0
_GENERATOR_PROCESSOR, SERVER_PROCESSOR = 0, 1


@dataclass(frozen=True, slots=True)
class Question:
    """A JSON-RPC request; `head` and `tail` are the body around the number that makes its messageId."""

    headers: Mapping[str, str]
    head: str
    tail: str

    def body(self, number: int | str) -> bytes:
        """Return the body of one request."""
        return f"{self.head}{number}{self.tail}".encode()

    def request(self, number: int | str, port: int) -> bytes:
        """Return one whole HTTP request."""
        body = self.body(number)
        headers = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items())
        head = f"POST / HTTP/1.1\r\nhost: {LOOPBACK}:{port}\r\n{headers}content-length: {len(body)}\r\n\r\n"
        return head.encode() + body

    def about(self, text: str) -> "Question":
        """Return the same question with another text."""
        return replace(self, tail=self.tail.replace(_TEXT, text))


def _question(body: str, **headers: str) -> Question:
    head, tail = body.split("#")
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Question({"content-type": "application/json", "authorization": f"Bearer {TOKEN}"} | named, head, tail)


# As Gemini Enterprise sends it: 0.3, and no output modes.
SEND_0_3 = _question(
    '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user",'
    '"messageId":"m-#","parts":[{"kind":"text","text":"What is the height of Mount Fuji?"}]},'
    '"configuration":{"acceptedOutputModes":[]}}}'
)
SEND_1_0 = _question(
    '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"ROLE_USER","messageId":"m-#",'
    '"parts":[{"text":"What is the height of Mount Fuji?"}]},"configuration":{"acceptedOutputModes":[]}}}',
    a2a_version="1.0",
)
# A program's, which accepts text: its stream ends with its task.
STREAM_1_0 = _question(
    '{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"role":"ROLE_USER","messageId":"m-#",'
    '"parts":[{"text":"What is the height of Mount Fuji?"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}}',
    accept="text/event-stream",
    a2a_version="1.0",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The result of one server under load. `generator_busy` is the share of one processor that the generator itself took."""

    requests: int
    requests_per_second: float
    p50_ms: float
    p99_ms: float
    generator_busy: float


class LoadFailed(Exception):
    """Some requests were not answered with 200, so that the numbers say nothing."""


def measured_load(port: int, question: Question, *, connections: int, seconds: float) -> Load:
    """Keep `connections` busy for `seconds`. Raises LoadFailed."""
    program = [sys.executable, "-m", "bench.load", str(port), str(connections), str(seconds)]
    before, started = _children_seconds(), time.monotonic()
    command = [*pinned_to(_GENERATOR_PROCESSOR), *program]
    done = subprocess.run(command, input=json.dumps(asdict(question)), capture_output=True, text=True)
    busy = (_children_seconds() - before) / (time.monotonic() - started)
    if done.returncode:
        raise LoadFailed(f"the load ended with {done.returncode}: {done.stderr.strip()}")
    totals = json.loads(done.stdout)
    errors = totals.pop("errors")
    if errors or not totals["requests"]:
        raise LoadFailed(f"{errors} of {totals['requests']} requests failed")
    return Load(**totals, generator_busy=busy)


def pinned_to(processor: int) -> list[str]:
    """Return what precedes a command to keep it on one processor; nothing where that cannot be said, or there is no second one.

    A server and its load that share processors cost each other two thirds more.
    """
    taskset = shutil.which("taskset")
    if taskset is None or (os.cpu_count() or 1) < 2:
        return []
    return [taskset, "--cpu-list", str(processor)]


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


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


def _totals(port: int, connections: int, seconds: float, question: Question) -> dict[str, float]:
    """Put the load on a server. One thread, sockets and epoll (or what the system has), and nothing between."""
    durations: list[float] = []
    # A message id that was used before would be a repeat, which a hub with a store answers without its agent.
    numbers = itertools.count(time.monotonic_ns())
    errors = 0
    with selectors.DefaultSelector() as waiting:
        for _ in range(connections):
            connection = _Connection(port)
            waiting.register(connection.socket, selectors.EVENT_READ, connection)
        started = time.perf_counter()
        for key in waiting.get_map().values():
            key.data.send(question.request(next(numbers), port))
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
                key.data.send(question.request(next(numbers), port))
    cuts = statistics.quantiles(durations, n=100) if len(durations) > 1 else [0.0] * 99
    return {
        "requests": len(durations),
        "errors": errors,
        "requests_per_second": len(durations) / (now - started),
        "p50_ms": cuts[49] * 1e3,
        "p99_ms": cuts[98] * 1e3,
    }


if __name__ == "__main__":
    print(json.dumps(_totals(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Question(**json.load(sys.stdin)))))
