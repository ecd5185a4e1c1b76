"""A host with several addresses, or none that answers: a connection is found, and whatever happens, in time."""

import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

import pytest

from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from tests.fakes.http_server import HttpServer
from tests.fakes.silent_address import silent_address

NAME = "agent.example.com"
ALIVE = "127.0.0.1"
SILENT = [f"127.0.0.{number}" for number in range(2, 8)]
REFUSING = [f"127.0.1.{number}" for number in range(1, 100)]


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with HttpServer(lambda exchange: exchange.answer(200, b"ok")) as server, ExitStack() as silent:
        for host in SILENT:
            silent.enter_context(silent_address(host, server.port))
        yield server


def test_an_address_that_is_silent_does_not_use_up_the_time_of_the_next_one(server: HttpServer) -> None:
    started = time.monotonic()
    assert _get(server, _at(*SILENT, ALIVE), connect_seconds=60) == b"ok"
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("others", [REFUSING, ["2001:db8::1", "fe80::1"]], ids=["refusing", "unreachable"])
def test_an_address_that_cannot_be_connected_to_is_passed_over(server: HttpServer, others: Sequence[str]) -> None:
    assert _get(server, _at(*others, ALIVE), connect_seconds=20) == b"ok"


def test_many_silent_addresses_take_no_longer_than_one(server: HttpServer) -> None:
    failure, seconds = _failure(lambda: _get(server, _at(*SILENT), connect_seconds=1))
    assert (failure.fault, failure.detail) == (Fault.UNREACHABLE, "no connection in time")
    assert 1 <= seconds < len(SILENT)


def test_further_attempts_end_at_the_deadline(server: HttpServer) -> None:
    http = _at(*SILENT)
    failure, seconds = _failure(lambda: _get(server, http, connect_seconds=60, seconds=1, retries=5))
    assert failure.fault is Fault.UNREACHABLE
    assert seconds < 20


def test_addresses_that_all_refuse_are_unreachable() -> None:
    with HttpServer(lambda _: None, listens=False) as server:
        failure, _ = _failure(lambda: _get(server, _at(ALIVE, *REFUSING)))
    assert (failure.fault, failure.detail) == (Fault.UNREACHABLE, "the connection was refused")


def test_a_tls_handshake_that_does_not_go_on_ends_at_the_deadline() -> None:
    with socket.create_server((ALIVE, 0)) as silent:
        url = f"https://{ALIVE}:{silent.getsockname()[1]}/"
        failure, seconds = _failure(lambda: _asked(url, HttpClient(), connect_seconds=60, seconds=1))
    assert (failure.fault, failure.detail) == (Fault.UNREACHABLE, "no connection in time")
    assert seconds < 20


def test_name_servers_that_do_not_answer_are_asked_once_and_not_waited_for(server: HttpServer) -> None:
    resolver = Resolver()
    http = HttpClient(addresses=resolver)
    for _ in range(3):
        failure, _ = _failure(lambda: _get(server, http, connect_seconds=0.1))
        assert failure.fault is Fault.UNRESOLVED
    assert resolver.asked == [NAME]
    resolver.answers.set()
    assert _get(server, http) == b"ok"


def test_who_asks_for_a_name_while_it_is_asked_for_hears_the_same(server: HttpServer) -> None:
    resolver = Resolver()
    http = HttpClient(addresses=resolver)
    answers: list[bytes] = []
    threads = [threading.Thread(target=lambda: answers.append(_get(server, http))) for _ in range(5)]
    for thread in threads:
        thread.start()
    resolver.answers.set()
    for thread in threads:
        thread.join()
    assert answers == [b"ok"] * 5


def test_a_name_that_could_not_be_resolved_is_asked_for_again(server: HttpServer) -> None:
    resolver = Resolver(failures=1)
    resolver.answers.set()
    http = HttpClient(addresses=resolver)
    failure, _ = _failure(lambda: _get(server, http))
    assert failure.fault is Fault.UNRESOLVED
    assert _get(server, http) == b"ok"


class Resolver:
    """Silent until `answers` is set; then every name is on this machine, once it has failed so many times."""

    def __init__(self, *, failures: int = 0) -> None:
        self.asked: list[str] = []
        self.answers = threading.Event()
        self._failures = failures

    def __call__(self, host: str, _: int) -> Sequence[str]:
        self.asked.append(host)
        assert self.answers.wait(timeout=60)
        if len(self.asked) <= self._failures:
            raise socket.gaierror(socket.EAI_AGAIN, "for now")
        return [ALIVE]


def _at(*addresses: str) -> HttpClient:
    return HttpClient(addresses=lambda *_: addresses)


def _get(
    server: HttpServer,
    http: HttpClient,
    *,
    connect_seconds: float = 20,
    seconds: float = 60,
    retries: int = 0,
) -> bytes:
    return _asked(
        f"http://{NAME}:{server.port}/",
        http,
        connect_seconds=connect_seconds,
        seconds=seconds,
        retries=retries,
    )


def _asked(url: str, http: HttpClient, *, connect_seconds: float, seconds: float, retries: int = 0) -> bytes:
    budget = Budget(
        deadline=http.clock() + seconds,
        connect_seconds=connect_seconds,
        idle_seconds=20,
        max_bytes=1000,
        retries=retries,
    )
    return http.request("GET", url, headers={}, body=None, budget=budget).read()


def _failure(ask: Callable[[], object]) -> tuple[HttpFailure, float]:
    """Return how it fails, and after how many seconds."""
    started = time.monotonic()
    with pytest.raises(HttpFailure) as raised:
        ask()
    return raised.value, time.monotonic() - started
