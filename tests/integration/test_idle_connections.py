"""Connections that are kept for the next request: while they live, to few hosts, and none for long."""

import threading
import time
from queue import Queue

from a2a_hub.http.client import Budget, HttpClient
from tests.fakes.http_server import Exchange, HttpServer

# The clients' clocks stand still: on a busy machine, a moment may be long.
NOW = time.monotonic()


def test_a_connection_is_used_again_after_a_complete_answer() -> None:
    with HttpServer(_ok) as server:
        http = HttpClient(clock=lambda: NOW)
        assert [_get(http, server) for _ in range(3)] == [b"ok"] * 3
        assert server.connections == 1


def test_a_connection_that_the_other_side_has_closed_is_not_used_again() -> None:
    closed = threading.Event()

    def once(exchange: Exchange) -> None:
        _ok(exchange)
        exchange.keeps_connection = False
        exchange.close()
        closed.set()

    with HttpServer(once) as server:
        http = HttpClient(clock=lambda: NOW)
        for _ in range(3):
            assert _get(http, server) == b"ok"
            assert closed.wait(timeout=10)
            closed.clear()
        assert server.connections == 3


def test_a_connection_that_was_idle_for_long_is_not_used_again() -> None:
    with HttpServer(_ok) as server:
        now = NOW
        http = HttpClient(clock=lambda: now)
        assert _get(http, server) == b"ok"
        now += 1.0
        assert _get(http, server) == b"ok"
        assert server.connections == 2


def test_of_many_hosts_only_the_last_ones_connections_are_kept() -> None:
    with HttpServer(_ok) as first, HttpServer(_ok) as second, HttpServer(_ok) as third:
        http = HttpClient(clock=lambda: NOW, max_idle_connections=2)
        for server in (first, second, third, third, second, first):
            assert _get(http, server) == b"ok"
        assert [server.connections for server in (first, second, third)] == [2, 1, 1]


def test_a_connection_that_waited_for_long_is_closed_when_another_host_is_asked() -> None:
    left: Queue[None] = Queue()

    def waiting(exchange: Exchange) -> None:
        _ok(exchange)
        exchange.wait_until_left()
        left.put(None)

    now = NOW
    with HttpServer(waiting) as server, HttpServer(_ok) as another:
        http = HttpClient(clock=lambda: now)
        assert _get(http, server) == b"ok"
        now += 1000.0
        assert _get(http, another) == b"ok"
        left.get(timeout=10)


def test_a_connection_that_is_not_used_again_stays_open_for_a_while_since_its_agent_may_wait_for_a_person() -> None:
    asked: list[Exchange] = []
    left: list[bool] = []
    ended = threading.Event()

    def waiting(exchange: Exchange) -> None:
        asked.append(exchange)
        left.append(asked[0].is_left())
        _ok(exchange)
        if exchange is asked[0]:
            ended.wait(timeout=10)

    now = NOW
    with HttpServer(waiting) as server:
        http = HttpClient(clock=lambda: now)
        for seconds in (0.0, 2.0, 57.0, 1.0, 0.0):
            now += seconds
            assert _get(http, server) == b"ok"
        ended.set()
    assert left == [False, False, False, False, True]


def _ok(exchange: Exchange) -> None:
    exchange.answer(200, b"ok")


def _get(http: HttpClient, server: HttpServer) -> bytes:
    budget = Budget(deadline=http.clock() + 20, connect_seconds=20, idle_seconds=20, max_bytes=1000)
    return http.request("GET", server.url, headers={}, body=None, budget=budget).read()
