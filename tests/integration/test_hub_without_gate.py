"""A hub that callers reach without a gate: it finds out by itself who they are, before anything else happens."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from a2a_hub.identity.principal import Principal
from tests.fakes.agent_server import AgentServer
from tests.fakes.agent_wire import message, text
from tests.fakes.google_tokens import AUDIENCE, Google, google
from tests.fakes.signatures import signed
from tests.integration.gates import Answer, Gate, function

_ROUTES = """
[[routes]]
id = "only"
name = "Only"
description = "The only agent."
url = "{url}"
boundary = "public"
default = true
"""


@dataclass(frozen=True)
class House:
    """The hub, the agent behind it, and Google beside it."""

    hub: Gate
    agent: AgentServer
    google: Google

    def ask(self, token: str | None, path: str = "/tools/query", **headers: str) -> Answer:
        """The answer to a question with this token."""
        self.agent.received.clear()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        return self.hub.ask(path=path, body=b'{"query": "Hi"}', headers=named)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A hub for users of one OAuth client, which has no key of a gate."""
    folder = tmp_path_factory.mktemp("hub")
    with google() as stand_in, AgentServer(lambda _: [message(text("Here you are"))]) as agent:
        routes = folder / "routes.toml"
        routes.write_text(_ROUTES.format(url=agent.url))
        told = {
            "ROUTES_FILE": str(routes),
            "GOOGLE_TOKEN_AUDIENCES": AUDIENCE,
            "GOOGLE_USERINFO_URL": stand_in.userinfo_url,
            "GOOGLE_TOKENINFO_URL": stand_in.tokeninfo_url,
            "IAM_CREDENTIALS": "none",
        }
        with function("hub", folder, **told) as hub:
            yield House(hub, agent, stand_in)


def test_a_users_token_reaches_the_agent_as_an_answer_and_not_as_a_token(house: House) -> None:
    answer = house.ask(house.google.issue("ya29.users-own"))
    assert answer.status == 200
    assert "Here you are" in answer.body.decode()
    assert "ya29" not in str(house.agent.received)
    assert "ya29" not in house.hub.log.read_text()


@pytest.mark.parametrize("path", ["/", "/message:send", "/v1/message:stream", "/tools/query"])
def test_whoever_is_nobody_is_refused_before_any_of_the_hubs_logic(house: House, path: str) -> None:
    other_app = house.google.issue("ya29.other-app", aud="other", azp="other")
    for token in (None, "ya29.nobody", other_app):
        answer = house.ask(token, path)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith('Bearer realm="a2a"')
        assert house.agent.received == []


def test_an_introspection_that_cannot_be_made_is_a_503_and_nobody_gets_in(house: House) -> None:
    token = house.google.issue("ya29.in-an-outage")
    house.google.answers("tokeninfo", status=500)
    try:
        answer = house.ask(token)
    finally:
        house.google.answers("tokeninfo")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert "www-authenticate" not in answer.headers
    assert json.loads(answer.body)["status"] == 503
    assert house.agent.received == []
    assert house.ask(token).status == 200


def test_what_a_gate_would_say_is_not_believed_where_there_is_none(house: House) -> None:
    admin = Principal(subject="google:1", email="admin@example.com")
    assert house.ask(None, **signed(admin, "POST", "/tools/query")).status == 401
    assert house.agent.received == []
