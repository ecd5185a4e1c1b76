"""A request's body off a real connection: whole, too long, broken off, framed wrongly, or never sent."""

import contextlib
import io
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from gunicorn.http.body import Body, ChunkedReader, LengthReader
from gunicorn.http.unreader import SocketUnreader

from a2a_hub.http.messages import BodyError, BodyFault
from a2a_hub.http.request_body import ReadWatchdog, RequestBody, WaitLimits


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection: the client's end and the server's."""
    client, server = socket.socketpair()
    with client, server:
        yield client, server


def of_length(server: socket.socket, length: int, *, coding: str = "", **wait_limits: Any) -> RequestBody:
    """A body as gunicorn reads it, of a stated length."""
    stream = Body(LengthReader(SocketUnreader(server), length))
    environ = {
        "wsgi.input": stream,
        "gunicorn.socket": server,
        "CONTENT_LENGTH": str(length),
        "HTTP_CONTENT_ENCODING": coding,
    }
    return RequestBody(environ, wait_limits=WaitLimits(**wait_limits))


def in_chunks(server: socket.socket, **wait_limits: Any) -> RequestBody:
    """A body as gunicorn reads it, in chunks."""
    stream = Body(ChunkedReader(None, SocketUnreader(server)))
    environ = {"wsgi.input": stream, "gunicorn.socket": server, "HTTP_TRANSFER_ENCODING": "chunked"}
    return RequestBody(environ, wait_limits=WaitLimits(**wait_limits))


def has_ended(server: socket.socket) -> bool:
    """Return True if nothing more is read from the connection."""
    server.settimeout(30)
    return server.recv(1) == b""


Ends = tuple[socket.socket, socket.socket]


def test_a_body_is_read_whole_and_the_next_request_stays_where_it_is(ends: Ends) -> None:
    client, server = ends
    client.sendall(b"0123456789")
    body = of_length(server, 10)
    assert body.read(10) == b"0123456789"
    body.discard()
    client.sendall(b"next")
    assert server.recv(4) == b"next"


def test_chunks_are_put_together(ends: Ends) -> None:
    client, server = ends
    client.sendall(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
    assert in_chunks(server).read(5) == b"abcde"


def test_a_request_without_a_body_is_not_waited_for(ends: Ends) -> None:
    body = RequestBody({"wsgi.input": io.BytesIO(b"of somebody else"), "gunicorn.socket": ends[1]})
    assert body.read(100) == b""
    body.discard()


def test_a_body_over_the_limit_is_none(ends: Ends) -> None:
    client, server = ends
    client.sendall(b"6\r\nabcdef\r\n0\r\n\r\n")
    assert in_chunks(server).read(5) is None
    assert of_length(server, 6).read(5) is None


@pytest.mark.parametrize("chunks", [b"zz\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}", b"0x2\r\n{}", b"2\r\n{}XX0\r\n\r\n"])
def test_chunks_that_are_framed_wrongly_are_refused_and_end_the_connection(ends: Ends, chunks: bytes) -> None:
    client, server = ends
    client.sendall(chunks)
    with pytest.raises(BodyError) as refused:
        in_chunks(server).read(1000)
    assert refused.value.fault is BodyFault.BROKEN
    client.shutdown(socket.SHUT_WR)
    server.settimeout(30)
    while server.recv(1000):
        pass


@pytest.mark.parametrize("read", [lambda server: of_length(server, 10), in_chunks], ids=["length", "chunks"])
def test_a_body_that_breaks_off_is_refused(ends: Ends, read: Any) -> None:
    client, server = ends
    client.sendall(b"5\r\n012")
    client.shutdown(socket.SHUT_WR)
    with pytest.raises(BodyError) as refused:
        read(server).read(1000)
    assert refused.value.fault is BodyFault.BROKEN


@pytest.mark.parametrize("read", [lambda server, **more: of_length(server, 10, **more), in_chunks])
def test_a_client_that_sends_nothing_more_is_not_waited_for_without_end(ends: Ends, read: Any) -> None:
    client, server = ends
    client.sendall(b"5\r\n0")
    with pytest.raises(BodyError) as refused:
        read(server, idle_seconds=0.01).read(1000)
    assert refused.value.fault is BodyFault.TOO_SLOW
    assert has_ended(server)


@pytest.mark.parametrize("read", [lambda server, **more: of_length(server, 1000, **more), in_chunks])
def test_a_body_that_comes_byte_by_byte_is_not_waited_for_without_end(ends: Ends, read: Any) -> None:
    client, server = ends
    refused = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            client.sendall(b"3e8\r\n")
            while not refused.wait(0.005):
                client.sendall(b"a")

    dripping = threading.Thread(target=drip)
    dripping.start()
    body = read(server, total_seconds=0.05, watchdog=ReadWatchdog(tick_seconds=0.01))
    with pytest.raises(BodyError) as error:
        body.read(2000)
    refused.set()
    dripping.join()
    assert error.value.fault is BodyFault.BROKEN


def test_after_the_body_an_answer_may_take_its_time(ends: Ends) -> None:
    client, server = ends
    client.sendall(b"01")
    of_length(server, 2, idle_seconds=0.01).read(2)
    threading.Timer(0.1, client.sendall, [b"next"]).start()
    assert server.recv(4) == b"next"


def test_what_nobody_read_is_thrown_away_when_it_has_come(ends: Ends) -> None:
    client, server = ends
    client.sendall(b"0123456789next")
    of_length(server, 10).discard()
    # gunicorn's reader took "next" with it, as it does between two requests; the connection goes on.
    client.sendall(b"more")
    assert server.recv(4) == b"more"


@pytest.mark.parametrize("read", [lambda server, **more: of_length(server, 10, **more), in_chunks])
@pytest.mark.parametrize("bound", ["pause_seconds", "linger_seconds"])
def test_what_nobody_read_and_nobody_sends_ends_the_connection(ends: Ends, read: Any, bound: str) -> None:
    read(ends[1], watchdog=ReadWatchdog(tick_seconds=0.01), **{bound: 0.01}).discard()
    assert has_ended(ends[1])


def test_what_nobody_read_and_cannot_be_parsed_ends_the_connection(ends: Ends) -> None:
    client, server = ends
    client.sendall(b"zz\r\n")
    in_chunks(server).discard()
    assert has_ended(server)


def test_an_endless_body_is_not_thrown_away_bit_by_bit(ends: Ends) -> None:
    body = of_length(ends[1], 10**30)
    assert body.read(10**6) is None
    body.discard()
    assert has_ended(ends[1])


def test_a_server_that_lends_no_socket_is_read_all_the_same() -> None:
    for data, length in ((b"0123", "4"), (b"01", "4")):
        body = RequestBody({"wsgi.input": io.BytesIO(data), "CONTENT_LENGTH": length})
        if len(data) == int(length):
            assert body.read(10) == data
        else:
            with pytest.raises(BodyError):
                body.read(10)
        body.discard()


@pytest.mark.parametrize("coding", ["gzip", "br", "GZIP, identity"])
def test_a_compressed_body_is_refused_and_the_next_request_stays_where_it_is(ends: Ends, coding: str) -> None:
    client, server = ends
    client.sendall(b"0123456789")
    body = of_length(server, 10, coding=coding)
    with pytest.raises(BodyError) as refused:
        body.read(10)
    assert refused.value.fault is BodyFault.COMPRESSED
    body.discard()
    client.sendall(b"next")
    assert server.recv(10) == b"next"


@pytest.mark.parametrize("coding", ["", "identity", " Identity "])
def test_a_body_that_says_it_is_not_compressed_is_read(ends: Ends, coding: str) -> None:
    client, server = ends
    client.sendall(b"0123456789")
    assert of_length(server, 10, coding=coding).read(10) == b"0123456789"


def test_a_client_is_there_until_it_leaves(ends: Ends) -> None:
    client, server = ends
    body = of_length(server, 0)
    assert body.client_is_there()
    client.sendall(b"the next request")
    assert body.client_is_there()
    server.recv(100)
    client.close()
    assert not body.client_is_there()
    server.close()
    assert not body.client_is_there()


def test_where_the_server_lends_no_socket_every_client_is_there() -> None:
    assert RequestBody({"wsgi.input": io.BytesIO()}).client_is_there()
