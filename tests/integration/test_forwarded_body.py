"""An answer that is passed on: nobody waits for it in a thread, and nobody asks for it in vain."""

import threading
import time
from collections.abc import Iterator

import pytest

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.http.forwarded_body import ForwardedBody, ReadinessWatcher
from a2a_hub.http.messages import Response, blocking
from tests.fakes.http_server import Exchange, HttpServer

_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Upstream:
    """A server that sends what it is told, when it is told."""

    def __init__(self, end: bytes = b"0\r\n\r\n") -> None:
        self.may_go_on = threading.Event()
        self.end = end

    def __call__(self, exchange: Exchange) -> None:
        exchange.send(_HEAD + b"3\r\none\r\n")
        assert self.may_go_on.wait(30)
        exchange.send(b"3\r\ntwo\r\n" + self.end)


def _forwarded(server: HttpServer, *, silence_seconds: float = 30.0, closed: threading.Event) -> ForwardedBody:
    budget = Budget(deadline=time.monotonic() + 60, connect_seconds=20, idle_seconds=30, max_bytes=1000)
    answer = HttpClient().request("GET", server.url, headers={}, body=None, budget=budget)
    return ForwardedBody(answer, ReadinessWatcher(), silence_seconds=silence_seconds, on_close=closed.set)


def _all(body: ForwardedBody) -> bytes:
    chunks = blocking(Response(body=body)).body
    assert isinstance(chunks, Iterator)
    return b"".join(chunks)


def _first(body: ForwardedBody, wake: threading.Event) -> bytes:
    body.on_ready(wake.set)
    while (chunk := body.poll()) is None:
        assert wake.wait(30)
        wake.clear()
    return chunk


def test_a_body_is_passed_on_to_its_end() -> None:
    upstream = Upstream()
    upstream.may_go_on.set()
    with HttpServer(upstream) as server:
        assert _all(_forwarded(server, closed=threading.Event())) == b"onetwo"


def test_a_body_that_waits_wakes_whoever_asked_when_there_is_more() -> None:
    upstream, wake = Upstream(), threading.Event()
    with HttpServer(upstream) as server:
        body = _forwarded(server, closed=threading.Event())
        assert _first(body, wake) == b"one"
        wake.clear()
        # However often it is asked, it wakes nobody before there is something.
        assert [body.poll() for _ in range(3)] == [None] * 3
        assert not wake.is_set()
        upstream.may_go_on.set()
        assert wake.wait(30)
        assert _all(body) == b"two"


def test_a_body_that_breaks_off_is_a_failure() -> None:
    upstream = Upstream(end=b"")
    upstream.may_go_on.set()
    with HttpServer(upstream) as server, pytest.raises(HttpFailure):
        _all(_forwarded(server, closed=threading.Event()))


def test_a_silence_that_lasts_too_long_is_a_failure() -> None:
    upstream = Upstream()
    with HttpServer(upstream) as server:
        with pytest.raises(HttpFailure):
            _all(_forwarded(server, silence_seconds=0.05, closed=threading.Event()))
        upstream.may_go_on.set()


def test_a_body_that_is_closed_ends_the_upstreams_work() -> None:
    left, closed = threading.Event(), threading.Event()

    def upstream(exchange: Exchange) -> None:
        exchange.send(_HEAD + b"3\r\none\r\n")
        exchange.wait_until_left()
        left.set()

    with HttpServer(upstream) as server:
        body = _forwarded(server, closed=closed)
        assert _first(body, threading.Event()) == b"one"
        body.close()
        assert left.wait(30)
        assert closed.is_set()
        with pytest.raises(StopIteration):
            body.poll()
