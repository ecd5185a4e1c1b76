"""A handler that shows what an adapter makes of requests and answers, for a function on either server."""

import threading
from collections.abc import Callable, Iterator

import msgspec
from msgspec import structs

from a2a_hub.http.admission import Limits
from a2a_hub.http.messages import BodyError, Request, Response
from a2a_hub.runtime.function import admission_control
from a2a_hub.telemetry.log import Log
from tests.fakes.polled_body import Chunks

LIMITS = Limits(
    threads=4,
    requests=3,
    awaited_bodies=2,
    streams=4,
    body_bytes=230_000,
    held_bytes=250_000,
    small_body_bytes=1000,
)
LARGE = b"0123456789" * 300_000
_log = Log(lambda _: None, clock=lambda: 0.0, new_id=lambda: "r", function="agent")
_may_go_on = threading.Event()
_waiting = threading.Semaphore(0)
_left = threading.Event()
_begun, _gone, _moment = threading.Semaphore(0), threading.Event(), threading.Event()


def _go_on(_: Request) -> Response:
    _may_go_on.set()
    return Response()


_admission = admission_control(LIMITS, _log)
CAPACITY, SHUTDOWN = _admission.capacity, _admission.shutdown
# Those that wait take all the places there are.
ADMISSION = structs.replace(_admission, answers={**_admission.answers, "/go-on": _go_on})


class Ticks:
    """A polled body: one event at once, another when it is told to, a last one when the process ends."""

    failure: Response | None = None
    idle_seconds = 30.0

    def __init__(self) -> None:
        self._chunks = [b"data: first\n\n"]
        self._wake: Callable[[], None] = lambda: None
        self._ended = False
        threads.append(self)

    def add(self, chunk: bytes, *, end: bool = False) -> None:
        self._chunks.append(chunk)
        self._ended = end
        self._wake()

    def poll(self) -> bytes | None:
        if self._chunks:
            return self._chunks.pop(0)
        if self._ended:
            raise StopIteration
        return None

    def on_ready(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        wake()

    def close(self) -> None:
        _left.set()


class Refused(Ticks):
    """A polled body that fails before its first chunk."""

    def poll(self) -> bytes | None:
        self.failure = Response(status=418, headers={"content-type": "application/json"}, body=b'{"error":1}')
        raise StopIteration


threads: list[Ticks] = []


def _drain() -> None:
    _may_go_on.set()
    for each in threads:
        each.add(b"data: last\n\n", end=True)


SHUTDOWN.on_stop(_drain)


def handle(request: Request) -> Response:
    """Answer as the path asks for; by default with the request as JSON."""
    match request.path:
        case "/crash":
            raise RuntimeError("the secret is 12345")
        case "/large":
            return Response(body=LARGE)
        case "/huge":
            return Response(body=LARGE * 5)
        case "/huge-stream":
            return Response(headers={"content-type": "text/event-stream"}, body=Chunks((LARGE * 5, b"the end")))
        case "/520":
            return Response(status=520, body=b"what a proxy made up")
        case "/304":
            return Response(status=304, headers={"etag": '"a"'})
        case "/kept":
            return Response(headers={"cache-control": "public, max-age=60"}, body=b"a card")
        case "/chunks":
            return Response(body=Chunks((b"0", b"1", b"2")))
        case "/broken":
            return Response(body=Chunks(_broken()))
        case "/ticks":
            return Response(headers={"content-type": "text/event-stream"}, body=Ticks())
        case "/refused":
            return Response(headers={"content-type": "text/event-stream"}, body=Refused())
        case "/tick":
            threads[-1].add(b"data: second\n\n")
        case "/left":
            return Response(body=b"yes" if _left.wait(30) else b"no")
        case "/wait":
            _waiting.release()
            _may_go_on.wait(30)
        case "/there":
            _begun.release()
            while request.client_is_there():
                _moment.wait(0.01)
            _gone.set()
        case "/begun":
            _begun.acquire(timeout=30)
            return Response()
        case "/gone":
            return Response(body=b"yes" if _gone.wait(30) else b"no")
        case "/waiting":
            _waiting.acquire(timeout=30)
    try:
        body = request.read_body(LIMITS.body_bytes)
    except BodyError as error:
        return _json({"fault": error.fault})
    values = {
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": dict(request.headers),
        "size": None if body is None else len(body),
    }
    return _json(values)


def _json(values: object) -> Response:
    return Response(headers={"content-type": "application/json"}, body=msgspec.json.encode(values))


def _broken() -> Iterator[bytes]:
    yield b"begun"
    raise RuntimeError("the secret is 12345")
