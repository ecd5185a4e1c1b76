"""The doctor at the boundaries `api_key` and `oauth_client_credentials`: what it tries, and the command that fixes it."""

from typing import Any

import pytest

from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.boundaries.kinds import ApiKey, Public
from a2a_hub.boundaries.sources import (
    CredentialSources,
)
from a2a_hub.diagnosis.report import Outcome, Step
from tests.fakes.hub import route
from tests.integration.guarded_agents import (
    FROM_ENVIRONMENT,
    RESOURCE,
    GuardedAgent,
    SecretManager,
    bearer_of,
    examined,
    oauth_of,
    owner,
    sources_of,
    store_of,
    with_key,
)
from tests.unit.cards import good_card


def test_the_doctor_tries_the_key_where_the_card_needs_none() -> None:
    boundary = ApiKey(secret=FROM_ENVIRONMENT, name="x-travel-key")
    with GuardedAgent(with_key) as agent:
        steps = examined(route("alpha", agent.url, boundary=boundary), sources_of())
        assert steps["credential"].message == "an API key from the variable TRAVEL_KEY, in the header x-travel-key"
        assert steps["access"] == Step(check="access", outcome=Outcome.OK, message="the agent accepts the credential")
        wrong = examined(route("alpha", agent.url, boundary=boundary), sources_of({"TRAVEL_KEY": "wrong"}))
    assert wrong["access"].outcome is Outcome.ERROR
    assert "replace it (set TRAVEL_KEY" in (wrong["access"].fix or "")


def test_the_doctor_prints_the_command_for_a_secret_that_is_missing() -> None:
    with SecretManager(status=404) as manager:
        alpha = route("alpha", "http://127.0.0.1:1", boundary=ApiKey(secret=RESOURCE))
        step = examined(alpha, CredentialSources(secrets=store_of(manager)))["credential"]
    assert step.command == (
        "gcloud secrets versions add travel-key --project=my-project --data-file=FILE_WITH_THE_SECRET"
    )


def test_the_doctor_tells_a_token_endpoint_that_refuses_from_an_agent_that_does() -> None:
    with owner() as (server, url), GuardedAgent(bearer_of(server)) as agent:
        alpha = route("alpha", agent.url, boundary=oauth_of(url))
        assert examined(alpha, sources_of())["access"].outcome is Outcome.OK
        server.faults.switch_on("invalid-client")
        step = examined(alpha, sources_of())["credential"]
        assert (step.outcome, "invalid_client" in step.message) == (Outcome.ERROR, True)
        server.faults.switch_off("invalid-client")
        agent.admits = lambda _: False
        assert examined(alpha, sources_of())["access"].outcome is Outcome.ERROR


def _v0_3(scheme: dict[str, Any], scopes: list[str]) -> dict[str, Any]:
    return good_card() | {"securitySchemes": {"travel": scheme}, "security": [{"travel": scopes}]}


def _v1_0(scheme: dict[str, Any], scopes: list[str]) -> dict[str, Any]:
    card = good_card()
    for name in ("protocolVersion", "url", "preferredTransport", "security"):
        del card[name]
    return card | {
        "supportedInterfaces": [{"url": "https://a.example", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "securitySchemes": {"travel": scheme},
        "securityRequirements": [{"schemes": {"travel": {"list": scopes}}}],
    }


def cards(url: str) -> dict[str, dict[str, Any]]:
    """Cards that ask for a key or a token, in both forms."""
    flow = {"tokenUrl": f"{url}/token", "scopes": {"book": "Book"}}
    return {
        "key 0.3": _v0_3({"type": "apiKey", "in": "header", "name": "X-Travel-Key"}, []),
        "key 1.0": _v1_0({"apiKeySecurityScheme": {"location": "header", "name": "X-Travel-Key"}}, []),
        "token 0.3": _v0_3({"type": "oauth2", "flows": {"clientCredentials": flow}}, ["book"]),
        "token 1.0": _v1_0({"oauth2SecurityScheme": {"flows": {"clientCredentials": flow}}}, ["book"]),
    }


@pytest.mark.parametrize("name", ["key 0.3", "key 1.0", "token 0.3", "token 1.0"])
def test_the_doctor_compares_the_route_with_what_the_card_asks_for(name: str) -> None:
    with owner() as (_, url):
        card = cards(url)[name]
        right: Boundary = oauth_of(url)
        wrong: Boundary = oauth_of(url, scopes=("read",))
        line = f'token_url = "{url}/token"'
        if name.startswith("key"):
            right = ApiKey(secret=FROM_ENVIRONMENT, name="x-travel-key")
            wrong = ApiKey(secret=FROM_ENVIRONMENT)
            line = 'api_key_header = "X-Travel-Key"'
        with GuardedAgent(lambda _: True, serve_card=lambda exchange: exchange.json(card)) as agent:
            assert "security" not in examined(route("alpha", agent.url, boundary=right), sources_of())
            for boundary in (Public(), wrong):
                step = examined(route("alpha", agent.url, boundary=boundary), sources_of())["security"]
                assert (step.outcome, line in (step.fix or "")) == (Outcome.WARNING, True)


def test_a_card_that_lacks_what_callers_do_not_need_is_compared_too() -> None:
    """As that of agentlings 0.19, whose skills have no tags."""
    card = cards("https://login.example")["key 1.0"]
    for skill in card["skills"]:
        del skill["tags"]
    with GuardedAgent(lambda _: True, serve_card=lambda exchange: exchange.json(card)) as agent:
        found = examined(route("alpha", agent.url), sources_of())
    assert (found["card"].outcome, found["security"].outcome) == (Outcome.WARNING, Outcome.WARNING)


@pytest.mark.parametrize("token_url", ["http://elsewhere.example/token", "no url", "https://u:p@a.example"])
def test_no_line_is_printed_for_a_token_url_that_may_not_be_called(token_url: str) -> None:
    flow = {"tokenUrl": token_url, "scopes": {}}
    card = _v0_3({"type": "oauth2", "flows": {"clientCredentials": flow}}, [])
    with GuardedAgent(lambda _: True, serve_card=lambda exchange: exchange.json(card)) as agent:
        assert "security" not in examined(route("alpha", agent.url), sources_of())
