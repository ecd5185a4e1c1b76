"""Reads that last too long are ended, those that do not are left alone, and the thread goes when nobody reads."""

import socket
import threading
from collections.abc import Iterator

import pytest

from a2a_hub.http.request_body import ReadWatchdog


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection: the client's end and the server's."""
    client, server = socket.socketpair()
    with client, server:
        server.settimeout(30)
        yield client, server


def test_a_read_that_is_overdue_finds_the_end(ends: tuple[socket.socket, socket.socket]) -> None:
    ReadWatchdog(tick_seconds=0.01).watch(ends[1], seconds=0.02)
    assert ends[1].recv(1) == b""


def test_a_connection_that_was_released_goes_on(ends: tuple[socket.socket, socket.socket]) -> None:
    client, server = ends
    watchdog = ReadWatchdog(tick_seconds=0.01)
    watchdog.release(watchdog.watch(server, seconds=0.02))
    other_client, other_server = socket.socketpair()
    with other_client, other_server:
        watchdog.watch(other_server, seconds=0.02)
        other_server.settimeout(30)
        assert other_server.recv(1) == b""
    client.sendall(b"a")
    assert server.recv(1) == b"a"


def test_a_connection_that_is_closed_meanwhile_does_no_harm(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    closed, _ = pair = socket.socketpair()
    watchdog = ReadWatchdog(tick_seconds=0.01)
    watchdog.watch(closed, seconds=0)
    for one in pair:
        one.close()
    watchdog.watch(ends[1], seconds=0.02)
    assert ends[1].recv(1) == b""


def test_its_thread_ends_when_nobody_reads_and_another_begins_with_the_next(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    watchdog = ReadWatchdog(tick_seconds=0.005, quiet_ticks=2)
    before = set(threading.enumerate())
    watchdog.release(watchdog.watch(ends[1], seconds=30))
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
        assert not thread.is_alive()
    watchdog.watch(ends[1], seconds=0)
    assert ends[1].recv(1) == b""
