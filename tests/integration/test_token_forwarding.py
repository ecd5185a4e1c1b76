"""Gate → hub → agents as processes: what of the caller's credential arrives at each boundary, and what of the hub's own."""

import contextlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.boundaries.kinds import GoogleApi, Iam, Public, User
from a2a_hub.identity.authentication import CALLER_AUTHORIZATION_HEADER, PRINCIPAL_HEADER
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.http_server import HttpServer
from tests.fakes.metadata_server import MetadataServer, claims_of
from tests.fakes.signatures import HUB_SETTINGS
from tests.integration.gates import BEARER, TOKEN, Gate, echo, function, gate

_OTHERS = ("cookie", "x-serverless-authorization", "x-forwarded-authorization", "x-api-key", "x-user-token")
_WAYS = {"message/send": "/", "message/stream": "/", "tools": "/tools/query"}


@dataclass(frozen=True)
class House:
    """A gate, the hub behind it, and an agent at each boundary."""

    gate: Gate
    agents: Mapping[Boundary, AgentServer]

    def ask(self, boundary: Boundary, way: str) -> str:
        """The answer to one question for the agent at `boundary`; the caller's token in every place that a caller has."""
        question = f"A question for {boundary}"
        part = {"kind": "text", "text": question}
        sent = {"kind": "message", "messageId": f"{boundary}-{way}", "role": "user", "parts": [part]}
        rpc = {"jsonrpc": "2.0", "id": 1, "method": way, "params": {"message": sent}}
        headers = {"Content-Type": "application/json"} | dict.fromkeys(_OTHERS, f"Bearer {TOKEN}") | BEARER
        body = {"query": question} if way == "tools" else rpc
        answer = self.gate.ask(path=_WAYS[way], body=json.dumps(body).encode(), headers=headers)
        assert answer.status == 200
        return answer.body.decode()


@contextlib.contextmanager
def house(folder: Path, *, passes: bool) -> Iterator[House]:
    """A house whose gate passes the caller's token on to the hub, or does not."""
    with contextlib.ExitStack() as stack:
        own = stack.enter_context(MetadataServer()).environment
        agents: dict[Boundary, AgentServer] = {
            boundary: stack.enter_context(AgentServer(lambda _: [message(text("Hello from the agent"))]))
            for boundary in (Public(), Iam(), GoogleApi(), User())
        }
        routes = folder / "routes.toml"
        routes.write_text(
            "\n".join(_route(boundary, agent.url, number) for number, (boundary, agent) in enumerate(agents.items()))
        )
        told = {"ROUTES_FILE": str(routes), **HUB_SETTINGS, **own}
        hub = stack.enter_context(function("hub", folder, **told))
        address = f"http://127.0.0.1:{hub.port}"
        settings = {"IAM_CREDENTIALS": "adc", "PASS_CALLER_TOKEN": str(passes).lower()} | dict(own)
        yield House(stack.enter_context(gate(address, folder, **settings)), agents)


def _route(boundary: Boundary, url: str, number: int) -> str:
    default = "default = true" if number == 0 else ""
    return f"""
[[routes]]
id = "{boundary.kind.replace("_", "-")}"
name = "{boundary}"
description = "The agent at the boundary {boundary}."
priority = {number + 1}
url = "{url}"
boundary = "{boundary}"
keywords = ["{boundary}"]
{default}
"""


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house with a gate that passes the caller's token on to the hub, for routes whose boundary is `user`."""
    with house(tmp_path_factory.mktemp("house"), passes=True) as one:
        yield one


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("boundary", [Public(), Iam(), GoogleApi()])
def test_nothing_of_the_callers_credential_arrives_at_an_agent_that_is_not_the_users(
    passing: House, boundary: Boundary, way: str
) -> None:
    agent = passing.agents[boundary]
    agent.received.clear()
    assert "Hello from the agent" in passing.ask(boundary, way)
    assert agent.asked
    for received in agent.received:
        assert TOKEN not in str(received)
        assert not {*_OTHERS, PRINCIPAL_HEADER, CALLER_AUTHORIZATION_HEADER} & received.headers.keys()
    own = agent.asked[0].headers.get("authorization")
    match boundary:
        case Public():
            assert own is None
        case Iam():
            assert own is not None
            assert claims_of(own.removeprefix("Bearer "))["aud"] == agent.url
        case _:
            assert own is not None
            assert own.startswith("Bearer ya29.local-hub@")


@pytest.mark.parametrize("way", _WAYS)
def test_the_users_own_agent_gets_the_callers_token_and_nothing_else_of_theirs(passing: House, way: str) -> None:
    agent = passing.agents[User()]
    agent.received.clear()
    assert "Hello from the agent" in passing.ask(User(), way)
    (received,) = agent.asked
    assert received.headers["authorization"] == f"Bearer {TOKEN}"
    assert str(received).count(TOKEN) == 1
    assert not {*_OTHERS, PRINCIPAL_HEADER, CALLER_AUTHORIZATION_HEADER} & received.headers.keys()


def test_a_gate_that_keeps_the_token_makes_the_users_agent_unreachable_and_says_so(tmp_path: Path) -> None:
    with house(tmp_path, passes=False) as keeping:
        answer = json.loads(keeping.ask(User(), "tools"))
        assert answer["error"]["fault"] == "no_user_token"
        assert "PASS_CALLER_TOKEN=true" in answer["error"]["remedy"]
        assert keeping.agents[User()].asked == []
        assert "Hello from the agent" in keeping.ask(Iam(), "tools")


def test_the_gate_shows_the_hub_its_own_id_token_for_the_hubs_address(tmp_path: Path) -> None:
    with (
        MetadataServer() as metadata,
        HttpServer(echo) as hub,
        gate(hub.url, tmp_path, IAM_CREDENTIALS="adc", **metadata.environment) as one,
    ):
        assert [one.ask().status for _ in range(3)] == [200] * 3
        assert metadata.minted == [hub.url]
    for received in hub.received:
        assert claims_of(received.headers["authorization"].removeprefix("Bearer "))["aud"] == hub.url
        assert TOKEN not in str(received)


def test_a_gate_without_a_token_of_its_own_is_a_503_and_the_hub_is_not_called(tmp_path: Path) -> None:
    with (
        HttpServer(lambda exchange: exchange.answer(500)) as broken,
        HttpServer(echo) as hub,
        gate(
            hub.url,
            tmp_path,
            IAM_CREDENTIALS="adc",
            GCE_METADATA_HOST=f"127.0.0.1:{broken.port}",
            GCE_METADATA_IP=f"127.0.0.1:{broken.port}",
            GCE_METADATA_DETECT_RETRIES="1",
        ) as one,
    ):
        answer = one.ask()
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert hub.received == []


def test_a_header_that_the_hub_itself_would_believe_arrives_at_no_agent_when_a_caller_sends_it(
    passing: House,
) -> None:
    agent = passing.agents[User()]
    agent.received.clear()
    forged = {"X-Hub-Caller-Authorization": "Bearer of-somebody-else", "Content-Type": "application/json"}
    body = json.dumps({"query": "A question for user"}).encode()
    assert passing.gate.ask(path="/tools/query", body=body, headers=BEARER | forged).status == 200
    assert agent.asked[0].headers["authorization"] == f"Bearer {TOKEN}"
