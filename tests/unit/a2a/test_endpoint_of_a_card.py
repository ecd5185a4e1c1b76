"""Where an agent is called: the card says the path, and never leads a credential to another origin."""

import pytest

from shared.a2a.discovery import endpoint_of
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
