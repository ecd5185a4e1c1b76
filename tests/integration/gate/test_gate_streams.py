"""Streams through the gate, alone and behind Envoy: as they come, and no longer than somebody listens."""

import base64
import contextlib
import http.client
import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from a2a_hub.a2a.bindings.sse import KEEP_ALIVE
from local.envoy import local_routes
from tests.fakes.http_server import Behaviour, Exchange, HttpServer
from tests.fakes.task_instance import until
from tests.integration.envoys import gateway
from tests.integration.gates import BEARER, Gate, gate


@pytest.fixture
def entrances(running: Gate, hub: HttpServer, tmp_path: Path) -> Iterator[tuple[int, int]]:
    """The ports of a gate alone and of Envoy with a gate behind it."""
    with gate(hub.url, tmp_path, CALLER_TOKEN_HEADER="x-forwarded-authorization") as behind:
        ports = {"gate": behind.port, "agent_card": behind.port}
        with gateway(local_routes(), ports, tmp_path) as port:
            yield running.port, port


@contextlib.contextmanager
def streamed(port: int) -> Iterator[http.client.HTTPResponse]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.request("POST", "/message:stream", body=b"{}", headers=BEARER)
        yield connection.getresponse()


def test_an_event_passes_while_the_stream_is_still_open(entrances: tuple[int, int], hub: HttpServer) -> None:
    """The hub sends the next event only when the caller has confirmed the last one."""
    confirmed = threading.Semaphore(0)

    def stream(exchange: Exchange) -> None:
        exchange.start_stream()
        for number in range(5):
            exchange.event(number)
            assert confirmed.acquire(timeout=30)

    hub.behave = stream
    for entrance in entrances:
        with streamed(entrance) as response:
            assert response.getheader("content-type") == "text/event-stream"
            for number in range(5):
                assert response.readline() == f"data: {number}\n".encode()
                assert response.readline() == b"\n"
                confirmed.release()
            assert response.read() == b""


def test_a_client_that_leaves_ends_the_hubs_call(entrances: tuple[int, int], hub: HttpServer) -> None:
    left = threading.Semaphore(0)

    def stream(exchange: Exchange) -> None:
        exchange.start_stream()
        try:
            while True:
                exchange.send(b": still here\n\n")
                exchange.pause(0.01)
        except OSError:
            left.release()

    hub.behave = stream
    for entrance in entrances:
        with streamed(entrance) as response:
            response.readline()
            assert not left.acquire(blocking=False)
        assert left.acquire(timeout=30)


def _causes(one: Gate, count: int) -> list[object]:
    """The causes in the latest lines of streams, of which there are so many."""

    def found() -> list[object] | None:
        lines = [json.loads(line) for line in one.log.read_bytes().splitlines()]
        causes = [line.get("cause") for line in lines if "/message:stream" in line["message"]]
        return causes if len(causes) >= count else None

    return until(found)


def test_the_log_says_why_a_stream_was_not_passed_on_to_its_end(hub: HttpServer, tmp_path: Path) -> None:
    event = b"5\r\n: 1\n\n\r\n"

    def stream(exchange: Exchange) -> None:
        exchange.head(content_type="text/event-stream", transfer_encoding="chunked")
        exchange.send(event)
        rest(exchange)

    def ends(exchange: Exchange) -> None:
        exchange.send(b"0\r\n\r\n")

    hub.behave = stream
    rest: Behaviour = ends
    with gate(hub.url, tmp_path) as one:
        with streamed(one.port) as response:
            assert response.read() == b": 1\n\n"
        rest = Exchange.reset
        with streamed(one.port) as response, pytest.raises((http.client.IncompleteRead, ConnectionError)):
            response.read()
        rest = Exchange.wait_until_left
        with streamed(one.port) as response:
            assert response.read(1)
        assert _causes(one, 3) == [None, "upstream_lost", "client_left"]
        with streamed(one.port) as response:
            assert response.read(1)
            os.kill(one.pid, signal.SIGTERM)
            response.read()
        assert _causes(one, 4)[-1] == "shutdown"


def test_a_stream_that_breaks_off_does_not_end_as_if_it_were_whole(running: Gate, hub: HttpServer) -> None:
    def stream(exchange: Exchange) -> None:
        exchange.head(content_type="text/event-stream", content_length="1000")
        exchange.event("first")

    hub.behave = stream
    with streamed(running.port) as response:
        assert response.readline() == b'data: "first"\n'
        with pytest.raises(http.client.IncompleteRead):
            response.read()


@pytest.mark.parametrize("within_event", [False, True])
def test_a_stream_that_breaks_off_ends_with_what_the_hub_gave_for_that_unless_within_an_event(
    running: Gate, hub: HttpServer, within_event: bool
) -> None:
    last = b'data: "The work continues."\n\n'

    def stream(exchange: Exchange) -> None:
        encoded = base64.b64encode(last).decode()
        exchange.head(content_type="text/event-stream", transfer_encoding="chunked", x_stream_end=encoded)
        for chunk in (first, b'data: "sec')[: 1 + within_event]:
            exchange.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))

    hub.behave = stream
    first = b'data: "first"\n\n'
    with streamed(running.port) as response:
        assert response.read(len(first)) == first
        if within_event:
            with pytest.raises(http.client.IncompleteRead):
                response.read()
        else:
            assert response.read() == last


def test_a_stream_is_not_cut_while_comments_come_and_ends_with_the_hubs_sentence_when_they_stop(
    hub: HttpServer, tmp_path: Path
) -> None:
    last = b'data: "Ask again later."\n\n'
    comments = 9

    def stream(exchange: Exchange) -> None:
        exchange.head(content_type="text/event-stream", x_stream_end=base64.b64encode(last).decode())
        for _ in range(comments):
            exchange.send(KEEP_ALIVE)
            exchange.pause(0.2)
        exchange.wait_until_left()

    hub.behave = stream
    with gate(hub.url, tmp_path, HUB_SILENCE_SECONDS="1.5") as hasty, streamed(hasty.port) as response:
        assert response.read() == comments * KEEP_ALIVE + last
        assert _causes(hasty, 1) == ["upstream_silent"]
