"""The agent card through the gateway: for 0.3, for 1.0, for a client that names no version; and its caching (§8.6)."""

import pytest

from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.e2e.hubs import Hub

PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")


@pytest.mark.parametrize("path", PATHS)
def test_a_client_of_0_3_gets_a_card_that_the_strict_schema_accepts(hub: Hub, path: str) -> None:
    card = hub.stranger().get(path, A2A_Version="0.3").json
    assert faults_v0_3("AgentCard", card) == []
    assert (card["url"], card["protocolVersion"]) == (hub.url, "0.3.0")
    assert card["preferredTransport"] == "JSONRPC"
    assert card["capabilities"]["streaming"] is True


@pytest.mark.parametrize("path", PATHS)
def test_a_client_of_1_0_gets_a_card_that_the_strict_schema_accepts(hub: Hub, path: str) -> None:
    for card in (
        hub.stranger().get(path, A2A_Version="1.0").json,
        hub.stranger().get(path + "?A2A-Version=1.0").json,
    ):
        assert faults("AgentCard", card) == []
        offered = {
            (interface["protocolBinding"], interface["protocolVersion"]) for interface in card["supportedInterfaces"]
        }
        assert offered == {(binding, v) for binding in ("JSONRPC", "HTTP+JSON") for v in ("0.3", "1.0")}
        assert {interface["url"] for interface in card["supportedInterfaces"]} == {hub.url}


@pytest.mark.parametrize("path", PATHS)
def test_a_client_that_names_no_version_gets_a_card_for_both(hub: Hub, path: str) -> None:
    card = hub.stranger().get(path).json
    assert faults_v0_3("AgentCard", card, strict=False) == []
    assert {
        "supportedInterfaces",
        "protocolVersion",
        "url",
        "security",
        "securityRequirements",
    } <= card.keys()


def test_every_route_is_a_skill_in_both_languages(hub: Hub) -> None:
    skills = hub.stranger().get(PATHS[0]).json["skills"]
    assert [skill["id"] for skill in skills] == ["pm", "expense", "docqa", "general"]
    own = hub.caller().get("/extendedAgentCard", A2A_Version="1.0").json
    assert [skill["id"] for skill in own["skills"]] == ["pm", "expense", "docqa", "devtool", "general"]
    for skill in own["skills"]:
        assert skill["examples"]
        assert any("\u3041" <= letter <= "\u9fff" for letter in skill["description"])
        assert any("a" <= letter <= "z" for letter in skill["description"])


def test_every_example_on_the_card_reaches_the_agent_that_shows_it(hub: Hub) -> None:
    skills = hub.caller().get("/extendedAgentCard", A2A_Version="1.0").json["skills"]
    examples = [(skill["id"], example) for skill in skills for example in skill["examples"]]
    assert {route for route, _ in examples} == {"devtool", "docqa", "expense", "general", "pm"}
    for route, example in examples:
        told = hub.caller().post("/tools/query", {"query": example}).json
        assert (told["route"], told["error"]) == (route, None)
        assert told["answer"]


def test_a_client_of_a_later_version_learns_which_ones_are_spoken(hub: Hub) -> None:
    answer = hub.stranger().get(PATHS[0], A2A_Version="2.0")
    assert answer.json == hub.stranger().get(PATHS[0]).json


@pytest.mark.parametrize("version", ["0.3", "1.0", ""])
def test_a_client_that_has_the_card_is_told_so_and_nothing_more(hub: Hub, version: str) -> None:
    first = hub.stranger().get(PATHS[0], A2A_Version=version)
    assert "max-age=" in first.headers["cache-control"]
    assert first.headers["vary"] == "A2A-Version"
    for condition in (
        {"If_None_Match": first.headers["etag"]},
        {"If_None_Match": f'"something-else", W/{first.headers["etag"]}'},
        {"If_Modified_Since": first.headers["last-modified"]},
    ):
        again = hub.stranger().get(PATHS[0], A2A_Version=version, **condition)
        assert (again.status, again.body) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]


def test_the_cards_of_the_versions_have_different_etags(hub: Hub) -> None:
    etags = {hub.stranger().get(PATHS[0], A2A_Version=version).headers["etag"] for version in ("0.3", "1.0", "")}
    assert len(etags) == 3
    old = hub.stranger().get(PATHS[0], A2A_Version="0.3").headers["etag"]
    assert hub.stranger().get(PATHS[0], A2A_Version="1.0", If_None_Match=old).status == 200


def test_both_functions_that_know_the_card_serve_the_same_one(hub: Hub) -> None:
    through_gateway = hub.stranger().get(PATHS[0])
    with_slash = hub.stranger().get(PATHS[0] + "/")
    assert through_gateway.body == with_slash.body
