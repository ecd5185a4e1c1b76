"""One suite for both adapters, behind the servers that Functions Framework starts: requests as bytes, answers as bytes."""

import contextlib
import re
import select
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.contract.http.handlers import LARGE, LIMITS
from tests.contract.http.servers import Answer, Server, read_until, rest_of, running
from tests.fakes.task_instance import until


def test_a_request_is_told_as_it_is(server: Server) -> None:
    answer = server.get("/a%20b/%E6%97%A5?x=1&x=2&y=", "X-One: 1", "X-One: 2", method="POST", body=b"{}")
    assert answer.status == 200
    told = answer.json
    assert (told["method"], told["path"], told["size"]) == ("POST", "/a b/日", 2)
    assert told["query"] == {"x": ["1", "2"], "y": [""]}
    headers = told["headers"]
    assert isinstance(headers, dict)
    assert headers["x-one"] == "1,2"


@pytest.mark.parametrize("path", ["/robots.txt", "/favicon.ico", "/a//b", "/"])
@pytest.mark.parametrize("method", ["GET", "PUT", "OPTIONS", "TRACE"])
def test_no_path_or_method_is_answered_by_the_framework(server: Server, path: str, method: str) -> None:
    assert server.get(path, method=method).json["method"] == method


def test_what_breaks_inside_shows_nothing_of_itself(server: Server) -> None:
    answer = server.get("/crash")
    assert answer.status == 500
    assert answer.json == {"error": {"code": 500, "status": "INTERNAL", "message": "Internal error"}}


def test_a_status_that_nobody_has_registered_is_passed_on(server: Server) -> None:
    answer = server.get("/520")
    assert (answer.status, answer.body) == (520, b"what a proxy made up")


@pytest.mark.parametrize("path", ["/", "/health", "/crash", "/520", "/iterated", "/refused", "/large"])
def test_what_callers_get_is_not_stored_not_sniffed_and_tells_other_sites_nothing(server: Server, path: str) -> None:
    headers = server.get(path).headers
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert "geolocation=()" in headers["permissions-policy"]
    assert headers["cache-control"] == "no-store"


def test_what_may_be_stored_says_so_itself(server: Server) -> None:
    headers = server.get("/kept").headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("public, max-age=60", "nosniff")


def test_an_answer_without_a_body_has_none(server: Server) -> None:
    answer = server.get("/304")
    assert (answer.status, answer.body, answer.headers["etag"]) == (304, b"", '"a"')
    assert "content-length" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/health", "/large", "/iterated", "/ticks"])
def test_head_is_get_without_its_body(server: Server, path: str) -> None:
    answer = server.get(path, method="HEAD")
    assert (answer.status, answer.body) == (200, b"")
    if path == "/large":
        assert answer.headers["content-length"] == str(len(LARGE))


def test_a_large_answer_comes_whole_to_a_slow_reader(server: Server) -> None:
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert server.get("/health").status == 200
        assert Answer.of(rest_of(connection)).body == LARGE


def test_requests_of_one_connection_are_answered_in_their_order(server: Server) -> None:
    first = b"POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}"
    last = b"GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with server.connect() as connection:
        if server.adapter == "flask":
            # gunicorn's threads look for another request only when something more arrives: no pipelining.
            connection.sendall(first)
            data = read_until(connection, b"}")
            connection.sendall(last)
        else:
            data = b""
            connection.sendall(first + last)
        data += rest_of(connection)
    assert re.findall(rb'"path":"/(\d)"', data) == [b"1", b"2"]


def test_a_client_that_expects_100_is_told_to_go_on(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
        )
        assert read_until(connection, b"\r\n\r\n").startswith(b"HTTP/1.1 100 ")
        connection.sendall(b"{}")
        assert Answer.of(rest_of(connection)).json["size"] == 2


def test_chunks_are_put_together(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert Answer.of(server.send(head + b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")).json["size"] == 5


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_limit_is_not_kept_and_the_next_request_stays_where_it_is(
    server: Server, chunked: bool
) -> None:
    data = b"x" * (LIMITS.body_bytes + 1)
    framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(data)
    body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data) if chunked else data
    with server.connect() as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n" + body)
        read_until(connection, b'"size":null}')
        connection.sendall(b"GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert Answer.of(rest_of(connection)).json["path"] == "/next"


def test_a_compressed_body_is_refused_by_the_one_who_reads_it(server: Server) -> None:
    answer = server.get("/", "Content-Encoding: gzip", method="POST", body=b"{}")
    assert answer.json == {"fault": "compressed"}


@pytest.mark.parametrize("chunked", [False, True])
def test_a_client_that_sends_nothing_more_is_told_so(server: Server, chunked: bool) -> None:
    framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: 5"
    data = server.send(b"POST / HTTP/1.1\r\nHost: a\r\n" + framing + b"\r\n\r\n" + (b"5\r\nab" if chunked else b"ab"))
    assert Answer.of(data).json == {"fault": "too_slow"}


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 150 + b"\r\n",
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=["a large header", "many headers", "no HTTP", "blank before the colon", "negative length", "two framings"],
)
def test_what_is_no_request_is_refused_and_ends_the_connection(server: Server, data: bytes) -> None:
    assert Answer.of(server.send(data)).status in (400, 431)


@pytest.mark.parametrize("path", ["/", "/health"])
@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"HTTP/1.1", 400),
        (b"HTTP/1.1\r\nHost: a\r\nHost: a", 400),
        (b"HTTP/1.0\r\nHost: a\r\nHost: b", 400),
        (b"HTTP/1.1\r\nHost: a b", 400),
        (b"HTTP/1.1\r\nHost: a/b", 400),
        (b"HTTP/1.1\r\nHost: user@a", 400),
        (b"HTTP/1.1\r\nHost: <a>", 400),
        (b"HTTP/1.1\r\nHost: a:b", 400),
        (b"HTTP/1.1\r\nHost: \xc3\xa9", 400),
        (b"HTTP/1.0", 200),
        (b"HTTP/1.1\r\nHost:", 200),
        (b"HTTP/1.1\r\nHost: a_b.example:8080", 200),
        (b"HTTP/1.1\r\nHost: [::1]:80", 200),
    ],
)
def test_a_request_has_one_host(server: Server, path: str, head: bytes, status: int) -> None:
    data = b"GET %s %s\r\nConnection: close\r\n\r\n" % (path.encode(), head)
    answer = Answer.of(server.send(data))
    assert answer.status == status
    assert status == 200 or b"INVALID_ARGUMENT" in answer.body


@pytest.mark.parametrize(
    "head",
    [b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"GET / HTTP/1.1\r\nHost: a\r\n", b"GET /"],
    ids=["header", "header's name", "target"],
)
def test_an_endless_head_is_refused_before_it_is_held(tmp_path: Path, head: bytes) -> None:
    with running("asgi", tmp_path) as server:
        assert _sent_until_refused(server, head, b"x" * 65_536) < 8_000_000


@pytest.mark.parametrize(
    ("start", "more"),
    [(b"5;", b"x"), (b"0\r\n", b"X: a\r\n"), (b"0\r\nX: ", b"x")],
    ids=["chunk's extension", "trailers", "trailer"],
)
def test_what_is_endless_around_a_body_ends_its_connection(tmp_path: Path, start: bytes, more: bytes) -> None:
    head = b"POST /wait HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with running("asgi", tmp_path) as server:
        assert _sent_until_refused(server, head + start, more * 10_000) < 8_000_000


def test_a_trailer_is_no_header(server: Server) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nAuthorization: b\r\nTransfer-Encoding: chunked\r\n\r\n"
    with server.connect() as client:
        client.sendall(head + b"2\r\n{}\r\n0\r\nAuthorization: c\r\nX-Two: d\r\n\r\n")
        headers = Answer.of(read_until(client, b'"size":2}')).json["headers"]
    assert isinstance(headers, dict)
    assert (headers["authorization"], headers.get("x-two")) == ("b", None)


def _sent_until_refused(server: Server, start: bytes, more: bytes) -> int:
    """The bytes that the server, and the system on its way there, take."""
    sent = 0
    with server.connect() as connection, contextlib.suppress(OSError):
        connection.sendall(start)
        while sent < 50_000_000:
            connection.sendall(more)
            sent += len(more)
    assert server.get("/health").status == 200
    return sent


def test_a_head_that_is_not_complete_in_time_is_refused(tmp_path: Path) -> None:
    with running("asgi", tmp_path) as server:
        for kept in (b"", b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"):
            with server.connect() as connection:
                connection.sendall(kept)
                assert not kept or read_until(connection, b'"ok"}')
                connection.sendall(b"GET / HTTP/1.1\r\nHo")
                assert b" 400 Bad Request" in rest_of(connection)


def test_what_comes_while_a_stream_runs_does_not_end_it(tmp_path: Path) -> None:
    with running("asgi", tmp_path) as server, server.connect() as stream, server.connect() as late:
        stream.sendall(b"GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")
        read_until(stream, b"data: first\n\n")
        # An empty line before the next request, as RFC 9112 (2.2) allows.
        stream.sendall(b"\r\n")
        late.sendall(b"GET / HTTP/1.1\r\nHo")
        assert b" 400 Bad Request" in rest_of(late)
        server.get("/tick")
        read_until(stream, b"data: second\n\n")


def test_slow_bodies_keep_nobody_from_being_read(server: Server) -> None:
    if server.adapter == "flask":
        # A thread waits for each, so its handler decides first who may send a body.
        return
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(LIMITS.awaited_bodies + 1)]
        for connection in slow:
            connection.sendall(head)
        assert Answer.of(rest_of(slow[0])).status == 503
        assert server.get("/", method="POST", body=b"{}").json["size"] == 2
        slow[-1].sendall(b"12345")
        assert b'"size":5}' in read_until(slow[-1], b"}")


def test_a_stream_is_sent_chunk_by_chunk(server: Server) -> None:
    assert b"1\r\n0\r\n1\r\n1\r\n1\r\n2\r\n0\r\n\r\n" in server.get("/chunks").body


def test_a_stream_that_breaks_off_has_no_end(server: Server) -> None:
    answer = server.get("/broken")
    assert b"begun" in answer.body
    assert b"0\r\n\r\n" not in answer.body
    assert b"12345" not in answer.body


def test_a_stream_that_fails_before_its_first_chunk_is_an_ordinary_response(server: Server) -> None:
    answer = server.get("/refused")
    assert (answer.status, answer.json) == (418, {"error": 1})


def test_a_stream_that_waits_is_woken_and_a_client_that_leaves_closes_it(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(b"GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")
        read_until(connection, b"data: first\n\n")
        server.get("/tick")
        read_until(connection, b"data: second\n\n")
    if server.adapter == "flask":
        # It finds out when it writes.
        for _ in range(3):
            server.get("/tick")
    assert server.get("/left").body == b"yes"


def test_a_handler_that_takes_long_learns_that_its_client_has_left(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(b"POST /there HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
        server.get("/begun")
    assert server.get("/gone").body == b"yes"


def test_what_is_too_much_is_refused_at_once_and_health_is_always_answered(server: Server) -> None:
    waiting = [server.connect() for _ in range(LIMITS.requests)]
    for connection in waiting:
        connection.sendall(b"POST /wait HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    refused = _refused(server)
    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert refused.json["error"] == {"code": -32603, "message": "Too much at once; wait a moment and try again"}
    assert server.get("/health").status == 200
    server.get("/go-on")
    for connection in waiting:
        assert Answer.of(rest_of(connection)).status in (200, 503)
        connection.close()


def _refused(server: Server) -> Answer:
    """The first answer that is a refusal."""
    return until(lambda: _if_refused(server.get("/", method="POST", body=b"{}")))


def _if_refused(answer: Answer) -> Answer | None:
    return answer if answer.status == 503 else None


def _fills_the_room(server: Server) -> tuple[socket.socket, Answer] | None:
    """A connection whose body lacks a byte of most of the room, and the refusal of another; None if it was refused itself."""
    slow = server.connect()
    slow.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" + b"x" * 199_999)
    while not select.select([slow], [], [], 0)[0]:
        if refused := _if_refused(server.get("/", method="POST", body=b"x" * 100_000)):
            return slow, refused
    # The other body came first.
    slow.close()
    return None


@pytest.mark.parametrize("adapter", ["asgi", "flask"])
def test_bodies_beyond_the_room_for_them_are_refused_and_small_ones_read(adapter: str, tmp_path: Path) -> None:
    # A busy machine may not cut the slow body short.
    with running(adapter, tmp_path, idle_seconds=30) as server:
        slow, refused = until(lambda: _fills_the_room(server))
        assert refused.headers["retry-after"] == "1"
        assert server.get("/", method="POST", body=b"x" * 900).json["size"] == 900
        slow.sendall(b"x")
        read_until(slow, b'"size":200000}')
        slow.close()
        assert server.get("/", method="POST", body=b"x" * 100_000).json["size"] == 100_000


@pytest.mark.parametrize("path", ["/huge", "/huge-stream"])
def test_a_large_answer_is_refused_while_others_fill_the_room_for_them(path: str, tmp_path: Path) -> None:
    with running("asgi", tmp_path) as server:
        with server.connect() as slow:
            # More than the system takes off the server.
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            read_until(slow, b"\r\n\r\n")
            refused = server.get(path)
            assert (refused.status, refused.headers["retry-after"]) == (503, "1")
            assert server.get("/").status == 200
        deadline = time.monotonic() + 30
        while (answer := server.get(path)).status == 503:
            assert time.monotonic() < deadline
        assert len(answer.body) >= 5 * len(LARGE)


def test_at_the_end_of_the_process_streams_and_requests_come_to_theirs(tmp_path: Path) -> None:
    with running("asgi", tmp_path) as server, contextlib.ExitStack() as stack:
        streams = [stack.enter_context(server.connect()) for _ in range(3)]
        for stream in streams:
            stream.sendall(b"GET /ticks HTTP/1.1\r\nHost: a\r\n\r\n")
            read_until(stream, b"data: first\n\n")
        unary = stack.enter_context(server.connect())
        unary.sendall(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        server.get("/waiting")
        server.popen.send_signal(signal.SIGTERM)
        assert [_ends(stream) for stream in streams] == [b"data: last\n\n"] * 3
        assert server.popen.wait(40) is not None
        assert Answer.of(rest_of(unary)).status == 200


def test_a_process_on_flask_that_is_told_to_end_waits_five_seconds_for_its_requests(tmp_path: Path) -> None:
    with running("flask", tmp_path) as server, server.connect() as unary:
        unary.sendall(b"GET /wait HTTP/1.1\r\nHost: a\r\n\r\n")
        server.get("/waiting")
        server.popen.send_signal(signal.SIGTERM)
        assert server.popen.wait(8) is not None


def _ends(stream: socket.socket) -> bytes:
    data = rest_of(stream)
    assert data.endswith(b"\r\n0\r\n\r\n"), data
    chunks: Sequence[bytes] = data.split(b"\r\n")
    return chunks[1]
