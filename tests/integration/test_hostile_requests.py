"""Hostile requests: none reaches a function's logic, and each is told so, at the gate and through the gateway."""

import contextlib
import re
import socket
from collections.abc import Iterator, Mapping

import pytest

from a2a_hub.http.forwarded_body import STREAM_END
from a2a_hub.identity.authentication import PRINCIPAL_HEADER
from a2a_hub.runtime.upstream import REQUEST_HEADERS
from local.envoy import local_routes
from tests.fakes.http_server import HttpServer
from tests.integration.envoys import gateway
from tests.integration.gates import BEARER, Gate, echo, gate, principal_at
from tests.integration.hostile_requests import GATE, GATEWAY, HOSTILE, Hostile

_ANSWER = re.compile(rb"HTTP/1\.[01] (\d{3}) ")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
# What a server says that does not understand how a body is encoded (RFC 9112 §6.1).
_NOT_IMPLEMENTED = 501


@pytest.fixture(scope="module")
def hub() -> Iterator[HttpServer]:
    """The hub, which counts what reaches it."""
    with HttpServer(echo) as server:
        yield server


@pytest.fixture(scope="module")
def entrances(hub: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Gate]]:
    """A gate that callers reach directly, and one behind the gateway."""
    folder = tmp_path_factory.mktemp("gates")
    with (
        gate(hub.url, folder) as alone,
        gate(hub.url, folder, CALLER_TOKEN_HEADER="x-forwarded-authorization") as behind,
    ):
        ports = {"gate": behind.port, "agent_card": hub.port}
        with gateway(local_routes(), ports, folder) as port:
            yield {GATE: alone, GATEWAY: Gate(port, behind.log)}


@pytest.mark.parametrize("entrance", [GATE, GATEWAY])
def test_a_request_in_good_faith_reaches_the_hub(entrances: Mapping[str, Gate], hub: HttpServer, entrance: str) -> None:
    hub.received.clear()
    assert entrances[entrance].ask(headers=BEARER).status == 200
    assert len(hub.received) == 1


@pytest.mark.parametrize(
    ("hostile", "entrance"),
    [pytest.param(hostile, at, id=f"{at}: {hostile.name}") for hostile in HOSTILE for at in hostile.at],
)
def test_a_hostile_request_is_refused_before_the_hub(
    entrances: Mapping[str, Gate], hub: HttpServer, hostile: Hostile, entrance: str
) -> None:
    hub.received.clear()
    answer = _answer(entrances[entrance].port, hostile)
    statuses = [int(status) for status in _ANSWER.findall(answer)]
    assert statuses or hostile.unfinished
    assert all(400 <= status < 500 or status == _NOT_IMPLEMENTED for status in statuses), answer[:300]
    assert b"Traceback" not in answer
    assert entrance == GATE or answer == b"" or b"content-type: application/json\r\n" in answer
    # What came after it on the same connection would have been there before this.
    assert entrances[entrance].ask(headers=BEARER).status == 200
    assert len(hub.received) == 1


@pytest.mark.parametrize(
    "hostile", [hostile for hostile in HOSTILE if GATEWAY not in hostile.at], ids=lambda hostile: hostile.name
)
def test_what_the_gateway_puts_right_reaches_the_hub_as_any_other_request(
    entrances: Mapping[str, Gate], hub: HttpServer, hostile: Hostile
) -> None:
    hub.received.clear()
    assert _ANSWER.findall(_answer(entrances[GATEWAY].port, hostile)) == [b"200"]
    (received,) = hub.received
    assert received.path in ("/", "/routes")
    assert received.headers.keys() <= {
        *REQUEST_HEADERS,
        PRINCIPAL_HEADER,
        STREAM_END,
        "host",
        "content-length",
        "accept-encoding",
    }
    assert received.headers["host"] == f"127.0.0.1:{hub.port}"
    assert principal_at(received) is not None


def test_the_table_is_as_long_as_it_has_to_be() -> None:
    assert len(HOSTILE) >= 60
    assert len({hostile.name for hostile in HOSTILE}) == len(HOSTILE)


def _answer(port: int, hostile: Hostile) -> bytes:
    """All that comes back. After the first answer the client says that it sends no more, which ends the wait of either side."""
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(hostile.data)
        open_to_send = True
        with contextlib.suppress(ConnectionError):
            if hostile.unfinished:
                connection.shutdown(socket.SHUT_WR)
                open_to_send = False
            while chunk := connection.recv(65536):
                received += chunk
                if open_to_send and _is_whole(received):
                    connection.shutdown(socket.SHUT_WR)
                    open_to_send = False
    return received


def _is_whole(received: bytes) -> bool:
    head, blank, body = received.partition(b"\r\n\r\n")
    length = _LENGTH.search(head + b"\r\n")
    return bool(blank) and length is not None and len(body) >= int(length[1])
