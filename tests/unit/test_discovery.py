"""How an agent is called is found out once in a while, and not forgotten when its card is away."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from a2a_hub.a2a.client import Endpoint
from a2a_hub.a2a.client_errors import ClientError, ClientFault
from a2a_hub.a2a.model import Binding, Version
from a2a_hub.boundaries.boundary import CredentialRequest
from a2a_hub.boundaries.kinds import User
from a2a_hub.boundaries.sources import CredentialSources
from a2a_hub.http.client import Budget, HttpClient
from functions.hub.credentials import AuthorizedHttp
from functions.hub.downstream.a2a_transport import Discovery
from functions.hub.downstream.interface import TransportCall
from tests.fakes.hub import route

BUDGET = Budget(deadline=1e9, connect_seconds=1, idle_seconds=1, max_bytes=1)


def call_with(authorization: str) -> TransportCall:
    """A call whose credential is the caller's own token."""
    agent = route("alpha", "https://agent.example")
    request = CredentialRequest(agent=agent, sources=CredentialSources(), authorization=authorization)
    http = AuthorizedHttp(HttpClient(), User(), request)
    return TransportCall(http=http, headers={}, budget=BUDGET, stream_budget=BUDGET)


class Agent:
    """Has a card, or fails; `asked` counts."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked = 0
        self.fails = False
        self.discovery = Discovery(self._discover, clock=lambda: self.now)

    def url(self) -> str:
        return self.discovery.endpoint(call_with("one")).url

    def _discover(self, _: TransportCall) -> Endpoint:
        self.asked += 1
        if self.fails:
            raise ClientError(ClientFault.UNREACHABLE, "away")
        return Endpoint(
            url=f"https://agent.example/{self.asked}",
            version=Version.V1_0,
            binding=Binding.JSONRPC,
            streaming=True,
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


class Waiting:
    """One caller waits for the card that another one asks for, whose token fails with `fault`; `asked` are the tokens."""

    def __init__(self, *, first: str, second: str, fault: ClientFault) -> None:
        self.asked: list[str] = []
        self._first, self._fault = first, fault
        self._asks, self._waits = threading.Event(), threading.Event()
        discovery = Discovery(self._discover, clock=self._clock)
        with ThreadPoolExecutor() as threads:
            asking = threads.submit(discovery.endpoint, call_with(first))
            assert self._asks.wait(10)
            waiting = threads.submit(discovery.endpoint, call_with(second))
            self.errors = [asking.exception(10), waiting.exception(10)]

    def _clock(self) -> float:
        # Looked at by whoever is about to wait for another's answer.
        self._waits.set()
        return 0.0

    def _discover(self, call: TransportCall) -> Endpoint:
        token = call.http.credential.headers["authorization"]
        self.asked.append(token)
        self._asks.set()
        assert self._waits.wait(10)
        if token == self._first:
            raise ClientError(self._fault, "no")
        return Endpoint(url="https://agent.example", version=Version.V1_0, binding=Binding.JSONRPC, streaming=True)


@pytest.mark.parametrize("fault", [ClientFault.UNAUTHENTICATED, ClientFault.FORBIDDEN])
def test_a_refusal_of_one_callers_token_is_nobody_elses(fault: ClientFault) -> None:
    callers = Waiting(first="one", second="another", fault=fault)
    assert callers.asked == ["one", "another"]
    assert [type(error) for error in callers.errors] == [ClientError, type(None)]


@pytest.mark.parametrize(
    ("second", "fault"),
    [("own", ClientFault.FORBIDDEN), ("another", ClientFault.UNREACHABLE)],
    ids=["one token for all", "an agent that is away"],
)
def test_any_other_failure_is_that_of_all_who_wait(second: str, fault: ClientFault) -> None:
    callers = Waiting(first="own", second=second, fault=fault)
    assert callers.asked == ["own"]
    assert [type(error) for error in callers.errors] == [ClientError, ClientError]
