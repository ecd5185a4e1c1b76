"""Where an agent is called: the card says the path, and never leads a credential to another origin."""

import json
from typing import Any

import pytest

from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.discovery import CalledCard, CalledInterface, endpoint_of, read_card
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import Binding, Version

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
        ("http://localhost:8000/a2a/", ROUTE + "/"),
        ("http://localhost:8000/other", ROUTE),
        ("", ROUTE),
    ],
)
def test_a_card_leads_to_no_other_origin_than_the_routes(said: str, called: str) -> None:
    interface = CalledInterface(url=said, protocol_binding="JSONRPC", protocol_version="1.0")
    assert endpoint_of(CalledCard(supported_interfaces=(interface,)), ROUTE).url == called


OFFERED = (
    ("GRPC", "1.0"),
    ("HTTP+JSON", "0.3"),
    ("JSONRPC", "2.0"),
    ("JSONRPC", "1.0.1"),
    ("HTTP+JSON", "1.0"),
)


def _offering(*offered: tuple[str, str]) -> CalledCard:
    interfaces = [
        CalledInterface(url=ROUTE, protocol_binding=binding, protocol_version=version, tenant=f"{at}")
        for at, (binding, version) in enumerate(offered)
    ]
    return CalledCard(supported_interfaces=tuple(interfaces))


@pytest.mark.parametrize(
    ("version", "binding", "taken"),
    [
        (None, None, "1"),
        (Version.V1_0, None, "3"),
        (None, Binding.JSONRPC, "3"),
        (Version.V1_0, Binding.HTTP_JSON, "4"),
    ],
)
def test_the_first_interface_that_is_spoken_and_allowed_is_taken(
    version: Version | None, binding: Binding | None, taken: str
) -> None:
    """§8.3.2: the card's order is the agent's preference."""
    endpoint = endpoint_of(_offering(*OFFERED), ROUTE, version=version, binding=binding)
    assert endpoint.tenant == taken
    assert (endpoint.binding, OFFERED[int(taken)][1][:3]) == (OFFERED[int(taken)][0], endpoint.version)


def test_a_card_with_nothing_that_is_spoken_is_refused() -> None:
    with pytest.raises(ClientError) as refused:
        endpoint_of(_offering(("GRPC", "1.0"), ("JSONRPC", "2.0")), ROUTE)
    assert refused.value.fault is ClientFault.WRONG_VERSION


_IN_1_0 = {"supportedInterfaces": [{"url": ROUTE, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}]}
_IN_0_3 = {"url": ROUTE, "preferredTransport": "HTTP+JSON", "protocolVersion": "0.3.0"}


@pytest.mark.parametrize(
    "amiss",
    [
        {},
        {"skills": [{"id": "echo", "name": "echo", "description": "echo"}]},
        {"skills": None, "name": 5, "description": 5, "version": {}, "defaultInputModes": "text"},
        {"securityRequirements": [{"schemes": {"bearer": []}}], "securitySchemes": {"bearer": {"type": "x"}}},
        {
            "capabilities": {"streaming": True, "extensions": [{"description": "no uri"}]},
            "signatures": "none",
        },
    ],
)
@pytest.mark.parametrize(("card", "version"), [(_IN_1_0, "1.0"), (_IN_0_3, "0.3")], ids=["1.0", "0.3"])
def test_what_is_amiss_elsewhere_in_a_card_keeps_nobody_from_calling_its_agent(
    card: dict[str, Any], version: str, amiss: dict[str, Any]
) -> None:
    endpoint = endpoint_of(read_card(json.dumps(card | amiss).encode()), ROUTE)
    assert (endpoint.url, endpoint.version, endpoint.binding) == (ROUTE, version, "HTTP+JSON")
    assert endpoint.streaming == ("capabilities" in amiss)


@pytest.mark.parametrize(
    ("card", "version"),
    [
        (_IN_0_3 | {"additionalInterfaces": [{"transport": "GRPC"}, {"url": {}, "transport": []}]}, "0.3"),
        (_IN_0_3 | {"supportedInterfaces": [{"url": [ROUTE], "protocolBinding": {}}]}, "0.3"),
        ({"supportedInterfaces": [None, {"url": ROUTE}, *_IN_1_0["supportedInterfaces"]]}, "1.0"),
    ],
    ids=["0.3", "both", "1.0"],
)
def test_an_interface_that_cannot_be_read_leaves_the_others(card: dict[str, Any], version: str) -> None:
    endpoint = endpoint_of(read_card(json.dumps(card).encode()), ROUTE)
    assert (endpoint.url, endpoint.version, endpoint.binding) == (ROUTE, version, "HTTP+JSON")


def test_an_interface_of_1_0_that_names_no_version_is_called_in_1_0() -> None:
    unversioned = {"supportedInterfaces": [{"url": ROUTE, "protocolBinding": "JSONRPC"}]}
    endpoint = endpoint_of(read_card(json.dumps(_IN_0_3 | unversioned).encode()), ROUTE)
    assert (endpoint.version, endpoint.binding) == ("1.0", "JSONRPC")


@pytest.mark.parametrize(
    "card",
    [
        {},
        [],
        {"url": 5},
        {"supportedInterfaces": {}},
        {"supportedInterfaces": [{"url": ROUTE}]},
        _IN_1_0 | {"capabilities": {"streaming": "yes"}},
        {"supportedInterfaces": [{"url": [ROUTE], "protocolBinding": {}, "protocolVersion": "1.0"}]},
        _IN_0_3 | {"preferredTransport": ["JSONRPC"]},
    ],
    ids=str,
)
def test_a_card_that_does_not_say_how_its_agent_is_called_is_refused(card: Any) -> None:
    with pytest.raises(A2AError):
        read_card(json.dumps(card).encode())
