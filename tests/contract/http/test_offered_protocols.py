"""Requests that offer to go on in another protocol: they are requests like others."""

import re
from pathlib import Path

import pytest

from tests.contract.http.servers import Answer, Server, read_until, running


@pytest.mark.parametrize("connection", ["Upgrade, HTTP2-Settings", "keep-alive, Upgrade", "close, Upgrade"])
@pytest.mark.parametrize("in_one_piece", [True, False])
def test_an_offer_of_another_protocol_changes_nothing(server: Server, connection: str, in_one_piece: bool) -> None:
    """RFC 9110 §7.8. curl and Java's HttpClient offer HTTP/2 with every request to an http:// address."""
    head = f"Host: a\r\nConnection: {connection}\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nX-One: 1\r\n"
    framed = [("/1?x=1", "Content-Length: 2", b"{}"), ("/2", "Transfer-Encoding: chunked", b"2\r\n{}\r\n0\r\n\r\n")]
    for path, framing, body in framed:
        pieces = [f"POST {path} HTTP/1.1\r\n{head}{framing}\r\n\r\n".encode(), body]
        with server.connect() as client:
            for piece in [b"".join(pieces)] if in_one_piece else pieces:
                client.sendall(piece)
            told = Answer.of(read_until(client, b'"size":2}')).json
        assert (told["method"], told["path"]) == ("POST", path[:2])
        headers = told["headers"]
        assert isinstance(headers, dict)
        assert headers["x-one"] == "1"


def test_offers_of_another_protocol_in_a_row_are_answered_in_their_order(tmp_path: Path) -> None:
    offer = b"Host: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"
    first = b"GET /1 HTTP/1.1\r\n" + offer + b"\r\n"
    second = b"POST /2 HTTP/1.1\r\n" + offer + b"Content-Length: 2\r\n\r\n{}"
    last = b"GET /3 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with running("asgi", tmp_path) as server:
        told = server.send(2000 * first + second + last)
    answered = re.findall(rb'"path":"/(\d)".*?"size":(\d)', told)
    assert answered == [*2000 * [(b"1", b"0")], (b"2", b"2"), (b"3", b"0")]


def test_a_websocket_is_not_opened(server: Server) -> None:
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    head = f"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n{key}\r\n"
    with server.connect() as client:
        client.sendall(f"{head}Sec-WebSocket-Version: 13\r\n\r\n".encode())
        status = Answer.of(read_until(client, b"\r\n\r\n")).status
    # Where the server knows no WebSocket, it is a request like others.
    assert status == (403 if server.adapter == "asgi" else 200)
