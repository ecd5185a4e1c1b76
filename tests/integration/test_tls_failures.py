"""TLS that does not come about: the operator is told why, and the user that the agent cannot be reached."""

import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.diagnosis.report import certificate_command
from a2a_hub.http.client import Budget, Fault, HttpClient, HttpFailure
from tests.fakes.hub import Hub, route, text_of
from tests.fakes.tls_receiver import TlsReceiver

NAME = "agent.example.com"
Configure = Callable[[ssl.SSLContext], object]


def _wants_certificate(context: ssl.SSLContext) -> None:
    context.verify_mode = ssl.CERT_REQUIRED


def _wants_certificate_before_1_3(context: ssl.SSLContext) -> None:
    _wants_certificate(context)
    _at_most_1_2(context)


def _at_most_1_2(context: ssl.SSLContext) -> None:
    context.maximum_version = ssl.TLSVersion.TLSv1_2


def _at_least_1_3(context: ssl.SSLContext) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_3


@pytest.mark.parametrize(
    ("host", "receiver", "client", "why"),
    [
        pytest.param(NAME, {"days": (-9, -1)}, None, "has expired", id="expired"),
        pytest.param(NAME, {"days": (1, 9)}, None, "is not valid yet", id="of tomorrow"),
        pytest.param("other.example.com", {}, None, "is for another host", id="another host's"),
        pytest.param("127.0.0.1", {}, None, "is for another address", id="for a name, not an address"),
        pytest.param(NAME, {"configure": _wants_certificate}, None, "want a client's certificate", id="mTLS"),
        pytest.param(
            NAME,
            {"configure": _wants_certificate_before_1_3},
            None,
            "want a client's certificate",
            id="mTLS in 1.2",
        ),
        pytest.param(NAME, {"configure": _at_most_1_2}, _at_least_1_3, "no version of TLS", id="an old version"),
    ],
)
def test_the_operator_is_told_why_there_is_no_tls(
    tmp_path: Path, host: str, receiver: dict[str, Any], client: Configure | None, why: str
) -> None:
    with TlsReceiver(NAME, tmp_path, **receiver) as server:
        context = server.trusting()
        if client is not None:
            client(context)
        failure = _failure(host, server.port, lambda: context)
    assert failure.fault is Fault.TLS
    assert failure.detail.startswith("the TLS handshake failed: ")
    assert why in failure.detail
    assert host not in failure.detail


def test_a_certificate_that_nobody_trusts_is_told_from_one_that_does_not_hold(tmp_path: Path) -> None:
    with TlsReceiver(NAME, tmp_path) as server:
        failure = _failure(NAME, server.port, ssl.create_default_context)
    assert failure.detail == ("the TLS handshake failed: the certificate is signed by itself, and is not trusted here")


def test_the_operators_record_says_why_and_how_to_see_it_and_the_user_reads_neither(tmp_path: Path) -> None:
    with TlsReceiver("localhost", tmp_path) as server:
        hub = Hub(route("alpha", f"https://localhost:{server.port}"))
        error = hub.query("What is the status?")["error"]
        text = text_of(hub.send("What is the status?"))
    assert text.startswith("The agent “Agent alpha” cannot be reached at the moment.")
    assert "certificate" not in text
    assert error["cause"] == hub.log[0]["cause"]
    assert "signed by itself" in error["cause"]
    assert "hubctl doctor" in error["remedy"]


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://agent.example.com/a2a", "agent.example.com:443"),
        ("https://agent.example.com:8443", "agent.example.com:8443"),
        ("https://[2001:db8::1]/", "[2001:db8::1]:443"),
    ],
)
def test_the_command_shows_the_certificate_of_the_urls_host(url: str, asked: str) -> None:
    assert certificate_command(url) == f"openssl s_client -connect {asked} </dev/null"


def _failure(host: str, port: int, tls: Callable[[], ssl.SSLContext]) -> HttpFailure:
    http = HttpClient(tls=tls, addresses=lambda *_: ["127.0.0.1"])
    budget = Budget(deadline=http.clock() + 20, connect_seconds=20, idle_seconds=20, max_bytes=1000)
    with pytest.raises(HttpFailure) as raised:
        http.request("POST", f"https://{host}:{port}/", headers={}, body=b"{}", budget=budget)
    return raised.value
