"""A notification goes to the address that was checked, whatever its name becomes, and only to who can prove the name."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from a2a_hub.tasks.webhook_address import AddressRefused, WebhookAddresses
from tests.fakes.http_server import HttpServer
from tests.fakes.tls_receiver import TlsReceiver

NAME = "receiver.example.com"


def _post(http: HttpClient, url: str) -> int:
    budget = Budget(deadline=http.clock() + 10, connect_seconds=5, idle_seconds=5, max_bytes=1000)
    answer = http.request("POST", url, headers={}, body=b"{}", budget=budget)
    answer.read()
    return answer.status


def _resolves(*answers: Sequence[str]) -> tuple[Callable[[str, int], Sequence[str]], list[str]]:
    """A resolver that answers differently each time, and what it was asked for."""
    asked: list[str] = []

    def resolve(host: str, _: int) -> Sequence[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    return resolve, asked


@pytest.mark.parametrize(
    "addresses",
    [("127.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("::1",), ("::ffff:127.0.0.1",), ("169.254.169.254",)],
)
def test_a_name_that_resolves_to_an_inner_address_is_never_connected_to(addresses: Sequence[str]) -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as inside:
        http = HttpClient(addresses=WebhookAddresses([], resolve=lambda *_: addresses).resolve)
        with pytest.raises(AddressRefused):
            _post(http, f"http://{NAME}:{inside.port}/")
        assert inside.connections == 0


def test_a_name_is_resolved_once_for_the_check_and_the_connection(tmp_path: Path) -> None:
    resolve, asked = _resolves(["127.0.0.1"], ["169.254.169.254"])
    with TlsReceiver(NAME, tmp_path) as server:
        http = HttpClient(
            tls=server.trusting,
            addresses=WebhookAddresses([f"{NAME}:{server.port}"], resolve=resolve).resolve,
        )
        assert _post(http, f"https://{NAME}:{server.port}/") == 200
        assert asked == [NAME]


def test_each_new_connection_is_checked_again() -> None:
    answers = iter((["127.0.0.1"], AddressRefused()))

    def addresses(*_: object) -> Sequence[str]:
        answer = next(answers)
        if isinstance(answer, AddressRefused):
            raise answer
        return answer

    with HttpServer(lambda exchange: exchange.head(200)) as server:
        http = HttpClient(addresses=addresses)
        url = f"http://{NAME}:{server.port}/"
        assert _post(http, url) == 200
        with pytest.raises(AddressRefused):
            _post(http, url)
        assert server.connections == 1


def test_the_server_is_told_the_name_and_has_to_prove_it(tmp_path: Path) -> None:
    with TlsReceiver(NAME, tmp_path) as server:
        http = HttpClient(tls=server.trusting, addresses=lambda *_: ["127.0.0.1"])
        assert _post(http, f"https://{NAME}:{server.port}/") == 200
        assert server.names == [NAME]
        assert server.hosts == [f"{NAME}:{server.port}"]
        with pytest.raises(HttpFailure) as raised:
            _post(http, f"https://another.example.com:{server.port}/")
        assert raised.value.fault is Fault.TLS
        assert len(server.hosts) == 1


def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    with HttpServer(lambda exchange: exchange.answer(200)) as server:
        http = HttpClient(addresses=lambda *_: ["127.0.0.2", "127.0.0.1"])
        assert _post(http, f"http://{NAME}:{server.port}/") == 200


def test_a_name_that_cannot_be_resolved_is_a_failure_that_names_nothing() -> None:
    http = HttpClient(addresses=WebhookAddresses([]).resolve)
    with pytest.raises(HttpFailure) as raised:
        _post(http, "http://nobody.invalid/")
    assert raised.value.fault is Fault.UNRESOLVED
    assert "nobody" not in raised.value.detail
