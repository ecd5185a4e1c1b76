"""Outgoing HTTP: nothing is sent twice, nothing takes longer than it may, and a connection belongs to one exchange."""

import threading
import time
from collections.abc import Callable, Iterator
from queue import Queue

import pytest

from a2a_hub.http.client import Budget, ClientResponse, Fault, HttpClient, HttpFailure
from a2a_hub.http.messages import Cancellation
from tests.fakes.http_server import Exchange, HttpServer


def test_a_refused_connection_is_tried_again() -> None:
    with HttpServer(_ok, listens=False) as server:
        http = HttpClient(clock=_then(server.listen, after=3))
        assert _get(http, server, retries=1) == b"ok"
        assert len(server.received) == 1


def test_a_refused_connection_is_not_tried_more_often_than_allowed() -> None:
    with HttpServer(_ok, listens=False) as server, pytest.raises(HttpFailure) as raised:
        _get(HttpClient(), server, retries=3)
    assert raised.value.fault is Fault.UNREACHABLE


@pytest.mark.parametrize(
    "behave",
    [
        pytest.param(lambda exchange: exchange.reset(), id="reset"),
        pytest.param(lambda _: None, id="closed"),
        pytest.param(lambda exchange: exchange.send(b"HTTP/1.1 "), id="half a status line"),
    ],
)
def test_a_request_that_was_sent_is_never_sent_again(behave: Callable[[Exchange], None]) -> None:
    with HttpServer(behave) as server, pytest.raises(HttpFailure) as raised:
        _get(HttpClient(), server, retries=5)
    assert raised.value.fault is Fault.UNANSWERED
    assert len(server.received) == 1


def test_a_redirect_is_not_followed() -> None:
    with (
        HttpServer(_ok) as elsewhere,
        HttpServer(lambda exchange: exchange.answer(302, location=elsewhere.url)) as server,
    ):
        answer = HttpClient().request(
            "GET", server.url, headers={"authorization": "Bearer secret"}, body=None, budget=_budget()
        )
        assert answer.status == 302
        answer.close()
        assert elsewhere.connections == 0


def test_an_answer_that_is_given_up_takes_its_connection_along() -> None:
    left: Queue[None] = Queue()

    def endless(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(b"first")
        exchange.wait_until_left()
        left.put(None)

    with HttpServer(endless) as server:
        chunks = _request(HttpClient(), server).chunks()
        assert next(chunks) == b"first"
        chunks.close()
        left.get(timeout=10)


@pytest.mark.parametrize("pieces", [(), (b"HTTP/1.1 200 OK\r\n",), (b"HTTP/1.1 200 OK\r\n\r\n", b"half")])
def test_a_caller_who_leaves_wakes_who_waits(pieces: tuple[bytes, ...]) -> None:
    reached: Queue[None] = Queue()

    def silent(exchange: Exchange) -> None:
        for piece in pieces:
            exchange.send(piece)
        reached.put(None)
        exchange.wait_until_left()

    cancellation = Cancellation()
    with HttpServer(silent) as server:
        failures: Queue[HttpFailure] = Queue()

        def ask() -> None:
            try:
                _request(HttpClient(), server, cancellation).read()
            except HttpFailure as failure:
                failures.put(failure)

        thread = threading.Thread(target=ask)
        thread.start()
        reached.get(timeout=10)
        cancellation.cancel()
        assert failures.get(timeout=10).fault is Fault.CANCELLED
        thread.join()


def test_a_caller_who_leaves_late_does_not_end_the_next_callers_exchange() -> None:
    cancellation = Cancellation()

    def cancels(exchange: Exchange) -> None:
        if exchange.received.path == "/second":
            cancellation.cancel()
        _ok(exchange)

    with HttpServer(cancels) as server:
        http = _at_one_moment()
        assert _request(http, server, cancellation).read() == b"ok"
        budget = _budget()
        answer = http.request("GET", f"{server.url}/second", headers={}, body=None, budget=budget)
        assert answer.read() == b"ok"
        assert server.connections == 1


def test_a_caller_who_has_left_before_gets_nothing() -> None:
    cancellation = Cancellation()
    cancellation.cancel()
    with HttpServer(_ok) as server, pytest.raises(HttpFailure) as raised:
        _request(HttpClient(), server, cancellation).read()
    assert raised.value.fault is Fault.CANCELLED


def test_a_deadline_that_has_passed_sends_nothing() -> None:
    with HttpServer(_ok) as server:
        budget = Budget(deadline=time.monotonic() - 1, connect_seconds=5, idle_seconds=5, max_bytes=100)
        with pytest.raises(HttpFailure) as raised:
            HttpClient().request("GET", server.url, headers={}, body=None, budget=budget)
        assert raised.value.fault is Fault.TIMEOUT
        assert server.connections == 0


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    def until_closed(exchange: Exchange) -> None:
        exchange.head()
        exchange.send(b"o")
        exchange.send(b"k")

    with HttpServer(until_closed) as server:
        assert _get(HttpClient(), server) == b"ok"


def test_a_chunked_answer_is_read_to_its_end_and_its_connection_used_again() -> None:
    def chunked(exchange: Exchange) -> None:
        exchange.head(transfer_encoding="chunked")
        exchange.send(b"1\r\no\r\n1\r\nk\r\n0\r\n\r\n")
        exchange.keeps_connection = True

    with HttpServer(chunked) as server:
        http = _at_one_moment()
        assert [_get(http, server), _get(http, server)] == [b"ok", b"ok"]
        assert server.connections == 1


def test_paths_that_no_request_line_may_hold_are_escaped() -> None:
    with HttpServer(_ok) as server:
        url = f"{server.url}/a b/経費?x=1 2"
        HttpClient().request("GET", url, headers={}, body=None, budget=_budget()).read()
        assert server.received[0].path == "/a%20b/%E7%B5%8C%E8%B2%BB?x=1%202"


@pytest.mark.parametrize(
    "header",
    [
        ("x-note", "a\r\nx-hub-principal: b"),
        ("x-note", "a\nb"),
        ("x-note", "a\0b"),
        ("x-note", "日本"),
        ("x note", "a"),
        ("x-note: a\r\nx", "b"),
        ("", "a"),
    ],
)
def test_a_header_that_is_more_than_one_is_not_sent(header: tuple[str, str]) -> None:
    with HttpServer(_ok) as server, pytest.raises(HttpFailure):
        HttpClient().request("GET", server.url, headers=dict([header]), body=None, budget=_budget())
    assert server.received == []


@pytest.mark.parametrize(("method", "body"), [("GET", None), ("POST", b"{}"), ("POST", b""), ("POST", None)])
def test_a_request_says_where_it_ends(method: str, body: bytes | None) -> None:
    with HttpServer(_ok) as server:
        http = _at_one_moment()
        for _ in range(2):
            http.request(method, server.url, headers={"x-note": "caf\xe9\t!"}, body=body, budget=_budget()).read()
        assert server.connections == 1
        for received in server.received:
            assert received.method == method
            assert received.body == (body or b"")
            assert received.headers["x-note"] == "caf\xe9\t!"
            assert received.headers["host"] == server.url.removeprefix("http://")
            assert received.headers.get("content-length") == (None if method == "GET" else str(len(body or b"")))


def test_an_early_refusal_of_a_large_body_is_read() -> None:
    def refuses(exchange: Exchange) -> None:
        exchange.answer(413, b"too large")

    with HttpServer(refuses, reads_bodies=False) as server:
        answer = HttpClient().request("POST", server.url, headers={}, body=b" " * (64 << 20), budget=_budget())
        assert answer.status == 413
        answer.close()


def test_a_host_without_an_address_is_unresolved() -> None:
    with pytest.raises(HttpFailure) as raised:
        HttpClient().request("GET", "http://a..b/", headers={}, body=None, budget=_budget())
    assert raised.value.fault is Fault.UNRESOLVED


def _ok(exchange: Exchange) -> None:
    exchange.answer(200, b"ok")


def _at_one_moment() -> HttpClient:
    """A client for which no connection is ever idle for too long, however busy the machine is."""
    now = time.monotonic()
    return HttpClient(clock=lambda: now)


def _budget(retries: int = 0) -> Budget:
    return Budget(deadline=time.monotonic() + 20, connect_seconds=20, idle_seconds=20, max_bytes=1000, retries=retries)


def _request(http: HttpClient, server: HttpServer, cancellation: Cancellation | None = None) -> ClientResponse:
    return http.request("GET", server.url, headers={}, body=None, budget=_budget(), cancellation=cancellation)


def _get(http: HttpClient, server: HttpServer, retries: int = 0) -> bytes:
    budget = _budget(retries)
    return http.request("GET", server.url, headers={}, body=None, budget=budget).read()


def _then(action: Callable[[], None], *, after: int) -> Callable[[], float]:
    """A clock that does something when it is looked at for the `after`th time."""
    looks: Iterator[int] = iter(range(1, 10_000))

    def clock() -> float:
        if next(looks) == after:
            action()
        return time.monotonic()

    return clock
