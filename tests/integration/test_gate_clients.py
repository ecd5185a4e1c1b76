"""Clients with static tokens at a real gate: each is itself, with its limits, and only as hashes in the settings."""

from collections.abc import Iterator

import pytest

from a2a_hub.identity.principal import digest
from functions.gate.config import read
from tests.fakes.http_server import HttpServer
from tests.fakes.signatures import GATE_SETTINGS
from tests.integration.gates import Gate, echo, gate, principal_at

GATEWAY_TOKEN = "token-of-the-gateway-in-32-characters"
_TABLE = f"""
[[clients]]
name = "nightly-report"
token_sha256 = "{digest("token-of-the-nightly-report")}"
routes = ["docqa"]
operations = ["SendMessage"]
"""


@pytest.fixture(scope="module")
def hub() -> Iterator[HttpServer]:
    """The hub, which keeps every request."""
    with HttpServer(echo) as server:
        yield server


@pytest.fixture(scope="module")
def one(hub: HttpServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gate with a table of clients and the gateway's token."""
    folder = tmp_path_factory.mktemp("gate")
    table = folder / "clients.toml"
    table.write_text(_TABLE)
    told = {
        "HUB_DEV_TOKEN": "",
        "CLIENTS_FILE": str(table),
        "A2A_GATEWAY_TOKEN": GATEWAY_TOKEN,
    }
    with gate(hub.url, folder, **told) as running:
        yield running


@pytest.mark.parametrize(
    ("token", "subject", "routes", "operations"),
    [
        ("token-of-the-nightly-report", "client:nightly-report", {"docqa"}, {"SendMessage"}),
        (GATEWAY_TOKEN, "client:gateway", None, None),
    ],
)
def test_a_client_arrives_with_its_name_and_its_limits(
    one: Gate,
    hub: HttpServer,
    token: str,
    subject: str,
    routes: set[str] | None,
    operations: set[str] | None,
) -> None:
    hub.received.clear()
    assert one.ask(headers={"Authorization": f"Bearer {token}"}).status == 200
    principal = principal_at(hub.received[0])
    assert principal is not None
    assert (principal.subject, principal.routes, principal.operations) == (subject, routes, operations)
    assert token not in str(hub.received)


@pytest.mark.parametrize(
    "token",
    [
        "nightly-report",
        "gateway",
        digest(GATEWAY_TOKEN),
        GATEWAY_TOKEN + "2",
    ],
)
def test_a_name_or_a_hash_is_no_token(one: Gate, hub: HttpServer, token: str) -> None:
    hub.received.clear()
    assert one.ask(headers={"Authorization": f"Bearer {token}"}).status == 401
    assert hub.received == []


def test_the_settings_hold_no_token() -> None:
    settings = read(
        {
            "HUB_URL": "https://hub.example",
            "AGENT_CARD_URL": "https://card.example",
            **GATE_SETTINGS,
            "A2A_GATEWAY_TOKEN": GATEWAY_TOKEN,
            "HUB_DEV_TOKEN": "token-of-a-developer",
        }
    )
    assert not any(secret in repr(settings) for secret in ("token-of", "PRIVATE KEY"))
    assert not any("token-of" in str(client) for client in settings.identity.clients)
