"""Where an agent is called: the card says the path, and never leads a credential to another origin."""

import pytest
from msgspec.structs import replace

from shared.a2a.card import AgentCard, AgentInterface
from shared.a2a.client_errors import ClientError, ClientFault
from shared.a2a.discovery import endpoint_of
from shared.a2a.versions import Version
from shared.agent_function import agent_card

ROUTE = "https://agent.example/a2a"


@pytest.mark.parametrize(
    ("said", "called"),
    [
        ("https://agent.example/a2a", "https://agent.example/a2a"),
        ("https://agent.example/elsewhere", "https://agent.example/elsewhere"),
        ("http://agent.example/a2a", ROUTE),
        ("https://agent.example:8443/a2a", ROUTE),
        ("https://agent.example@other.example/a2a", ROUTE),
        ("https://sub.agent.example/a2a", ROUTE),
        ("//agent.example/a2a", ROUTE),
        ("/a2a", ROUTE),
        ("https://[broken", ROUTE),
        ("", ROUTE),
    ],
)
def test_a_card_leads_to_no_other_origin_than_the_routes(said: str, called: str) -> None:
    card = agent_card(name="Agent", description="x", version="1", url=said, skills=())
    assert endpoint_of(card, ROUTE).url == called


OFFERED = (
    ("GRPC", "1.0"),
    ("HTTP+JSON", "0.3"),
    ("JSONRPC", "2.0"),
    ("JSONRPC", "1.0.1"),
    ("HTTP+JSON", "1.0"),
)


def _offering(*offered: tuple[str, str]) -> AgentCard:
    card = agent_card(name="Agent", description="x", version="1", url=ROUTE, skills=())
    interfaces = [
        AgentInterface(url=ROUTE, protocol_binding=binding, protocol_version=version, tenant=f"{at}")
        for at, (binding, version) in enumerate(offered)
    ]
    return replace(card, supported_interfaces=tuple(interfaces))


@pytest.mark.parametrize(
    ("version", "binding", "taken"),
    [
        (None, None, "1"),
        (Version.V1_0, None, "3"),
        (None, "JSONRPC", "3"),
        (Version.V1_0, "HTTP+JSON", "4"),
    ],
)
def test_the_first_interface_that_is_spoken_and_allowed_is_taken(
    version: Version | None, binding: str | None, taken: str
) -> None:
    """§8.3.2: the card's order is the agent's preference."""
    endpoint = endpoint_of(_offering(*OFFERED), ROUTE, version=version, binding=binding)
    assert endpoint.tenant == taken
    assert (endpoint.binding, OFFERED[int(taken)][1][:3]) == (OFFERED[int(taken)][0], endpoint.version)


def test_a_card_with_nothing_that_is_spoken_is_refused() -> None:
    with pytest.raises(ClientError) as refused:
        endpoint_of(_offering(("GRPC", "1.0"), ("JSONRPC", "2.0")), ROUTE)
    assert refused.value.fault is ClientFault.WRONG_VERSION
