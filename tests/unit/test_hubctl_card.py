"""`hubctl card` and `hubctl check --card`, as an operator calls them."""

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_hub.a2a.compat.v0_3.card import to_core_card
from a2a_hub.a2a.extensions.development_tool import URI
from a2a_hub.card_rules.check import check_card
from a2a_hub.settings.hub import public_card, read
from a2a_hub.settings.reader import Settings
from tests.contract.a2a.schemas import faults, faults_v0_3
from tests.fakes.http_server import Exchange, HttpServer
from tests.unit.cards import good_card
from tests.unit.route_tables import DEFAULT, SHIPPED_FILE, route_text
from tests.unit.test_hubctl_check import hubctl

HUB = "https://hub.example.com"


def card(*arguments: str | Path, **environment: str) -> dict[str, Any]:
    status, told = hubctl("card", *arguments, environment=environment)
    assert status == 0
    value: dict[str, Any] = json.loads(told)
    return value


def test_gemini_enterprises_card_breaks_no_rule_and_is_a_strict_card_of_0_3() -> None:
    made = card("--for", "gemini-enterprise", "--url", HUB)
    assert check_card(made) == ()
    assert faults_v0_3("AgentCard", made) == []


def test_gemini_enterprises_card_says_what_it_needs_and_no_more() -> None:
    made = card("--url", HUB)
    assert made["url"] == HUB
    assert made["protocolVersion"] == "0.3.0"
    assert made["capabilities"] == {"streaming": True}
    assert made["defaultOutputModes"] == ["text/plain"]
    assert made["security"]
    flow = made["securitySchemes"]["google"]["flows"]["authorizationCode"]
    assert flow["authorizationUrl"].startswith("https://accounts.google.com/o/oauth2/v2/auth?access_type=offline")
    assert flow["tokenUrl"] == "https://oauth2.googleapis.com/token"
    assert all(isinstance(skill["tags"], list) for skill in made["skills"])
    assert not {"supportedInterfaces", "additionalInterfaces", "signatures"} & set(made)


def test_no_published_card_names_the_development_agent_which_is_for_named_callers() -> None:
    for form in ("gemini-enterprise", "0.3", "1.0", "both"):
        made = card("--url", HUB, "--for", form, DEVTOOL_URL="https://devtool.example.com")
        assert URI not in str(made)
        assert "devtool" not in [skill["id"] for skill in made["skills"]]


def test_the_address_is_taken_from_the_environment_and_the_option_wins() -> None:
    assert card(HUB_PUBLIC_URL=HUB)["url"] == HUB
    assert card("--url", HUB, HUB_PUBLIC_URL="https://other.example.com")["url"] == HUB


def test_a_reader_that_there_is_not_is_told_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        hubctl("card", "--url", HUB, "--for", "2.0")
    assert "'gemini-enterprise', '0.3', '1.0', 'both'" in capsys.readouterr().err


def test_the_protocol_version_may_be_any_text() -> None:
    assert card("--url", HUB, "--protocol-version", "v1")["protocolVersion"] == "v1"
    assert card("--url", HUB, "--for", "0.3", CARD_PROTOCOL_VERSION="0.2")["protocolVersion"] == "0.2"


def test_the_cards_of_the_versions_are_what_the_hub_publishes() -> None:
    environment = {"HUB_PUBLIC_URL": HUB, "ROUTES_FILE": str(SHIPPED_FILE)}
    published = public_card(read(Settings(environment), environment, needs_urls=False))
    for form in ("1.0", "both"):
        assert to_core_card(card("--for", form, **environment)) == published
    assert faults("AgentCard", card("--for", "1.0", "--url", HUB)) == []
    assert faults_v0_3("AgentCard", card("--for", "0.3", "--url", HUB)) == []


def test_a_route_that_only_some_may_use_is_not_on_the_registered_card(tmp_path: Path) -> None:
    routes = tmp_path / "routes.toml"
    hidden = route_text("pm", 'keywords = ["WBS"]', 'allow_domains = ["example.com"]', priority=1)
    routes.write_text(hidden + DEFAULT)
    assert [skill["id"] for skill in card("--url", HUB, "--routes", routes)["skills"]] == ["other"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give --url https://HUB, or set HUB_PUBLIC_URL"),
        (["--url", "http://hub.example.com"], "calls https with a certificate of a public authority only"),
        (["--url", "https://localhost:8080"], "localhost is not on the public internet"),
        (["--url", "hub"], "HUB_PUBLIC_URL must be a URL"),
        (["--url", HUB, "--routes", "none.toml"], "none.toml cannot be read"),
    ],
)
def test_a_card_that_cannot_be_is_refused_with_what_to_do(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hubctl("card", *arguments) == (2, "")
    assert message in capsys.readouterr().err


def test_a_card_in_a_file_is_checked_and_each_finding_names_rule_place_and_fix(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_text(json.dumps(good_card()))
    assert hubctl("check", "--card", file) == (0, f"{file}: good for Gemini Enterprise\n")
    file.write_text(json.dumps(good_card() | {"defaultInputModes": ["text"]}))
    status, told = hubctl("check", "--card", file)
    assert status == 1
    assert told.splitlines()[:3] == [
        "error: $.defaultInputModes[0]: 'text' is no MIME type",
        '    fix:  write a MIME type, such as "text/plain"',
        "    rule: mime-types (Gemini Enterprise as an A2A client (docs/gemini-enterprise.md))",
    ]


def test_findings_are_json_when_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "card.json"
    file.write_text(json.dumps(good_card() | {"defaultOutputModes": ["application/json"]}))
    status, told = hubctl("check", "--card", file, "--json")
    value = json.loads(told)
    assert (status, value["ok"]) == (0, True)
    assert [(each["rule"], each["severity"], each["path"]) for each in value["findings"]] == [
        ("text-modes", "warning", "$.defaultOutputModes")
    ]


def test_a_card_is_read_from_the_agent_that_publishes_it_in_version_0_3() -> None:
    def publish(exchange: Exchange) -> None:
        assert exchange.received.path == "/.well-known/agent-card.json"
        assert exchange.received.headers["a2a-version"] == "0.3"
        exchange.json(good_card())

    with HttpServer(publish) as server:
        assert hubctl("check", "--card", server.url)[0] == 0
        assert hubctl("check", "--card", f"{server.url}/.well-known/agent-card.json")[0] == 0


def test_a_card_that_cannot_be_read_is_a_call_without_sense(capsys: pytest.CaptureFixture[str]) -> None:
    with HttpServer(lambda exchange: exchange.answer(401)) as server:
        assert hubctl("check", "--card", server.url)[0] == 2
    assert hubctl("check", "--card", "none.json")[0] == 2
    assert hubctl("check", "--card", "none.json", "--text", "hm")[0] == 2
    told = capsys.readouterr().err
    assert "answers HTTP 401: a card must be readable without a token" in told
    assert "none.json cannot be read" in told
    assert "give one of them" in told
