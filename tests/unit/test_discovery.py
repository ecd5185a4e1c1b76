"""How an agent is called is found out once in a while, and not forgotten when its card is away."""

import pytest

from functions.hub.discovery import Discovery
from shared.a2a.client_answer import Endpoint
from shared.a2a.client_errors import ClientError, ClientFault
from shared.a2a.versions import Version
from shared.http_client import Budget

BUDGET = Budget(deadline=1e9, connect_seconds=1, idle_seconds=1, max_bytes=1)


class Agent:
    """Has a card, or fails; `asked` counts."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.fails = False
        self.discovery = Discovery(self._discover, clock=lambda: self.now)

    def url(self) -> str:
        return self.discovery.endpoint({}, BUDGET).url

    def _discover(self, _: dict[str, str], __: Budget) -> Endpoint:
        self.asked += 1
        if self.fails:
            raise ClientError(ClientFault.UNREACHABLE, "away")
        return Endpoint(
            url=f"https://agent.example/{self.asked}", version=Version.V1_0, binding="JSONRPC", streaming=True
        )


def test_a_card_is_asked_for_again_after_five_minutes_or_when_it_was_wrong() -> None:
    agent = Agent()
    assert [agent.url() for _ in range(3)] == ["https://agent.example/1"] * 3
    agent.now = 300.0
    assert agent.url() == "https://agent.example/2"
    agent.discovery.forget()
    assert agent.url() == "https://agent.example/3"


def test_a_card_that_is_away_leaves_what_is_known() -> None:
    agent = Agent()
    agent.url()
    agent.fails, agent.now = True, 300.0
    assert [agent.url() for _ in range(2)] == ["https://agent.example/1"] * 2
    assert agent.asked == 2


def test_without_any_card_the_next_request_asks_again() -> None:
    agent = Agent()
    agent.fails = True
    for _ in range(2):
        with pytest.raises(ClientError):
            agent.url()
    assert agent.asked == 2
