"""What servers send as an answer: what is read, what is refused, and after what a connection is used again."""

from collections.abc import Callable

import pytest

from a2a_hub.http.client import Budget, ClientResponse, Fault, HttpClient, HttpFailure
from tests.fakes.http_server import Exchange, HttpServer

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = OK + b"Content-Length: 2\r\n\r\nok"
LARGE = OK + b"Content-Length: 2\r\nX-Note: "
MAX_HEAD_BYTES = 65536
LEAVES_CONNECTION = {
    "a length": WHOLE,
    "lines that end with LF only": b"HTTP/1.1 200 OK\nX-Note: a\nContent-Length: 2\n\nok",
    "no reason": b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
    "a reason in another language": "HTTP/1.1 200 了解\r\nContent-Length: 2\r\n\r\nok".encode(),
    "a header without a value": OK + b"X-Note:\r\nContent-Length: 2\r\n\r\nok",
    "line ends before it": b"\r\n\r\n" + WHOLE,
    "chunks": CHUNKED + b"1\r\no\r\n1\r\nk\r\n0\r\n\r\n",
    "chunk extensions": CHUNKED + b'2;a=b;c="d"\r\nok\r\n0;e\r\n\r\n',
    "spaces after a chunk's size": CHUNKED + b"2  \r\nok\r\n0  \r\n\r\n",
    "trailers": CHUNKED + b"2\r\nok\r\n0\r\nX-Note: a\r\nServer: b\r\n\r\n",
    "HTTP/1.0 that keeps it": b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
    "another protocol on offer": OK + b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok",
    "an interim answer before it": b"HTTP/1.1 100 Continue\r\n\r\n" + WHOLE,
    "interim answers with headers": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3 + WHOLE,
    "a head as large as allowed": LARGE.ljust(MAX_HEAD_BYTES - 4, b"a") + b"\r\n\r\nok",
}
TAKES_CONNECTION = {
    "Connection: close": OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok",
    "close in a list": OK + b"Connection: x, Close\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.0": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "more than its length": WHOLE + b"!",
    "a second answer": WHOLE + WHOLE,
    "more than its chunks": CHUNKED + b"2\r\nok\r\n0\r\n\r\nmore",
    "more than it, and close": OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nokok",
}
NOT_HTTP = {
    "another protocol": b"not HTTP\r\n\r\n",
    "small letters": b"http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a request": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "another version": b"HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "a status of two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 2\r\n\r\nok",
    "a status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nok",
    "a status below 100": b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
    "a switch of protocols": b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + WHOLE,
    "a switch to a protocol": b"HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n" + WHOLE,
    "length and chunks": OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "chunks and length": OK + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    "two lengths": OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
    "one length twice": OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok",
    "a list of lengths": OK + b"Content-Length: 2, 2\r\n\r\nok",
    "a negative length": OK + b"Content-Length: -2\r\n\r\nok",
    "a length with a sign": OK + b"Content-Length: +2\r\n\r\nok",
    "no length in the header": OK + b"Content-Length:\r\n\r\nok",
    "a length beyond all numbers": OK + b"Content-Length: 99999999999999999999\r\n\r\nok",
    "a folded header": OK + b"X-Note: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
    "a header before its line": OK + b" X-Note: a\r\nContent-Length: 2\r\n\r\nok",
    "lines that end with CR only": b"HTTP/1.1 200 OK\rX-Note: a\rContent-Length: 2\r\rok",
    "NUL in a value": OK + b"X-Note: a\0b\r\nContent-Length: 2\r\n\r\nok",
    "a space before the colon": OK + b"Content-Length : 2\r\n\r\nok",
    "a header without a colon": OK + b"X-Note\r\nContent-Length: 2\r\n\r\nok",
    "too many headers": OK + b"X-Note: a\r\n" * 100 + b"Content-Length: 2\r\n\r\nok",
    "too large a head": LARGE.ljust(MAX_HEAD_BYTES - 3, b"a") + b"\r\n\r\nok",
    "a header without end": OK + b"X-Note: " + b"a" * 200_000,
    "interim answers without end": b"HTTP/1.1 102 Processing\r\n\r\n" * 4000,
}
CUT = {
    "fewer bytes than its length": OK + b"Content-Length: 3\r\n\r\nok",
    "no last chunk": CHUNKED + b"2\r\nok\r\n",
    "half a chunk": CHUNKED + b"3\r\nok",
    "trailers that do not end": CHUNKED + b"2\r\nok\r\n0\r\nX-Note: a\r\n",
    "an encoding that nobody asked for": OK + b"Transfer-Encoding: gzip\r\n\r\nok",
    "chunks in another encoding": OK + b"Transfer-Encoding: chunked, gzip\r\n\r\nok",
}
FRAMED_WRONGLY = {
    "a chunk size that is none": CHUNKED + b"2\r\nok\r\nsize\r\n",
    "chunk sizes that end with LF only": CHUNKED + b"2\r\nok\r\n2\nok\n0\n\n",
    "a negative chunk size": CHUNKED + b"2\r\nok\r\n-2\r\nok\r\n",
    "a chunk size beyond all numbers": CHUNKED + b"2\r\nok\r\nfffffffffffffffff\r\n",
    "a chunk that is longer than its size": CHUNKED + b"2\r\nokok\r\n0\r\n\r\n",
    "a length among the trailers": CHUNKED + b"2\r\nok\r\n0\r\nContent-Length: 2\r\n\r\n",
    "a chunk extension without end": CHUNKED + b"2\r\nok\r\n2;" + b"a" * 200_000,
    "trailers without end": CHUNKED + b"2\r\nok\r\n0\r\n" + b"X-Note: a\r\n" * 20_000,
}


@pytest.mark.parametrize("name", LEAVES_CONNECTION)
def test_an_answer_that_ends_where_it_says_leaves_its_connection_for_the_next(name: str) -> None:
    with HttpServer(_sends(LEAVES_CONNECTION[name])) as server:
        http = _client()
        for _ in range(2):
            answer = _asked(http, server)
            assert (answer.status, answer.read()) == (200, b"ok")
        assert server.connections == 1


@pytest.mark.parametrize("name", TAKES_CONNECTION)
def test_an_answer_after_which_nothing_is_certain_takes_its_connection_along(name: str) -> None:
    with HttpServer(_sends(TAKES_CONNECTION[name])) as server:
        http = _client()
        for _ in range(2):
            answer = _asked(http, server)
            assert (answer.status, answer.read()) == (200, b"ok")
        assert server.connections == 2


@pytest.mark.parametrize("name", NOT_HTTP)
def test_what_can_be_read_in_two_ways_or_in_none_is_not_http(name: str) -> None:
    with HttpServer(_sends(NOT_HTTP[name])) as server, pytest.raises(HttpFailure) as raised:
        _asked(_client(), server)
    assert (raised.value.fault, raised.value.detail) == (Fault.CUT, "what came back is not HTTP")


@pytest.mark.parametrize("head", [b"HTTP/1.1 2", OK, OK + b"Content-Length: 0\r\n", OK + b"X-Note: a"])
def test_a_head_that_breaks_off_is_no_answer(head: bytes) -> None:
    with HttpServer(lambda exchange: exchange.send(head)) as server, pytest.raises(HttpFailure) as raised:
        _asked(_client(), server)
    expected = (Fault.UNANSWERED, "the connection was cut before an answer came")
    assert (raised.value.fault, raised.value.detail) == expected


@pytest.mark.parametrize("name", [*CUT, *FRAMED_WRONGLY])
def test_a_body_that_breaks_off_is_told_after_what_came_of_it(name: str) -> None:
    def sends(exchange: Exchange) -> None:
        exchange.send((CUT | FRAMED_WRONGLY)[name])
        exchange.keeps_connection = name in FRAMED_WRONGLY

    with HttpServer(sends) as server:
        pieces: list[bytes] = []
        with pytest.raises(HttpFailure) as raised:
            pieces.extend(_asked(_client(), server).chunks())
    expected = (Fault.CUT, "the connection was cut in the middle of the answer")
    assert (raised.value.fault, raised.value.detail) == expected
    assert b"".join(pieces) == b"ok"


def test_an_answer_that_comes_byte_by_byte_is_the_same() -> None:
    def dribbles(exchange: Exchange) -> None:
        for byte in CHUNKED + b"1;a\r\no\r\n1\r\nk\r\n0\r\nX-Note: a\r\n\r\n":
            exchange.send(bytes([byte]))
        exchange.keeps_connection = True

    with HttpServer(dribbles) as server:
        http = _client()
        assert [_asked(http, server).read() for _ in range(2)] == [b"ok", b"ok"]
        assert server.connections == 1


@pytest.mark.parametrize(
    "headers", [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Content-Length: 0\r\n"]
)
def test_an_answer_to_head_ends_with_its_head(headers: bytes) -> None:
    with HttpServer(_sends(OK + headers + b"\r\n")) as server:
        http = _client()
        for _ in range(2):
            answer = _asked(http, server, "HEAD")
            assert (answer.status, answer.read()) == (200, b"")
        assert server.connections == 1


def test_an_answer_to_head_that_has_a_body_nevertheless_takes_its_connection_along() -> None:
    with HttpServer(_sends(WHOLE)) as server:
        http = _client()
        assert [_asked(http, server, "HEAD").read() for _ in range(2)] == [b"", b""]
        assert server.connections == 2


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_a_status_without_a_body_ends_with_its_head(status: bytes) -> None:
    with HttpServer(_sends(b"HTTP/1.1 " + status + b"\r\nContent-Length: 5\r\n\r\n")) as server:
        http = _client()
        assert [_asked(http, server).read() for _ in range(2)] == [b"", b""]
        assert server.connections == 1


def test_headers_are_found_in_whatever_case_and_all_of_them_are_there() -> None:
    head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nset-cookie:  b=\xe9 \t\r\nContent-Length: 0\r\n\r\n"
    with HttpServer(_sends(head)) as server:
        answer = _asked(_client(), server)
        answer.read()
    headers = answer.headers
    assert (headers.get("SET-Cookie"), headers.get("x-note"), headers.get("x-note", "-")) == (
        "a=1",
        None,
        "-",
    )
    assert list(headers.items()) == [("set-cookie", "a=1"), ("set-cookie", "b=é"), ("content-length", "0")]


def test_a_trailer_is_no_header() -> None:
    with HttpServer(_sends(CHUNKED + b"2\r\nok\r\n0\r\nX-Note: a\r\n\r\n")) as server:
        answer = _asked(_client(), server)
        answer.read()
        assert answer.headers.get("x-note") is None


def test_each_exchange_of_a_connection_has_its_own_patience() -> None:
    def behaves(exchange: Exchange) -> None:
        match exchange.received.path:
            case "/never":
                exchange.wait_until_left()
            case "/later":
                exchange.pause(2.0)
        exchange.answer(200, b"ok")

    with HttpServer(behaves) as server:
        http = _client()

        def asked(path: str, idle_seconds: float) -> bytes:
            budget = Budget(deadline=20, connect_seconds=20, idle_seconds=idle_seconds, max_bytes=1000)
            return http.request("GET", server.url + path, headers={}, body=None, budget=budget).read()

        assert asked("/now", 1.5) == b"ok"
        assert asked("/later", 20) == b"ok"
        with pytest.raises(HttpFailure) as raised:
            asked("/never", 0.1)
        assert raised.value.fault is Fault.TIMEOUT
        assert server.connections == 1


def _sends(data: bytes) -> Callable[[Exchange], None]:
    def behave(exchange: Exchange) -> None:
        exchange.send(data)
        exchange.keeps_connection = True

    return behave


def _client() -> HttpClient:
    """Its time stands still, so that no connection is too old to be used again."""
    return HttpClient(clock=lambda: 0.0)


def _asked(http: HttpClient, server: HttpServer, method: str = "GET") -> ClientResponse:
    budget = Budget(deadline=20, connect_seconds=20, idle_seconds=20, max_bytes=100_000)
    return http.request(method, server.url, headers={}, body=None, budget=budget)
