"""`hubctl register` against the stand-in of Gemini Enterprise, over HTTP."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.fakes.gemini_enterprise.world import Agent, Operator
from tests.integration.registrations import APP, CLIENT, SECRET, TOKEN, Registrations, registrations, shown_to_users
from tests.unit.cards import good_card

AUTHORIZATION = "projects/123456789012/locations/global/authorizations/a2a-hub"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Registrations]:
    with registrations(tmp_path) as each:
        yield each


def test_a_first_registration_makes_an_authorization_and_an_agent_that_people_see(
    there: Registrations,
) -> None:
    agent = there.registered()
    assert shown_to_users(there.world, "global") == ["A2A hub"]
    assert agent.authorization == AUTHORIZATION
    assert json.loads(agent.fields["a2aAgentDefinition"]["jsonAgentCard"]) == good_card()
    assert agent.fields["icon"] == {"uri": good_card()["iconUrl"]}
    held = there.world.authorizations[AUTHORIZATION].oauth
    assert (held["clientId"], held["clientSecret"]) == (CLIENT, SECRET)
    assert held["tokenUri"] == "https://oauth2.googleapis.com/token"


def test_the_authorization_uri_asks_for_a_code_and_a_refresh_token_of_who_the_user_is(
    there: Registrations,
) -> None:
    there.registered("--scope", "https://www.googleapis.com/auth/drive.readonly")
    held = there.world.authorizations[AUTHORIZATION].oauth
    url = urlsplit(held["authorizationUri"])
    asked = {name: values[0] for name, values in parse_qs(url.query).items()}
    scopes = asked.pop("scope").split()
    assert (url.scheme, url.netloc, url.path) == ("https", "accounts.google.com", "/o/oauth2/v2/auth")
    assert asked == {
        "client_id": CLIENT,
        "redirect_uri": "https://vertexaisearch.cloud.google.com/static/oauth/oauth.html",
        "response_type": "code",
        "access_type": "offline",
        "prompt": "consent",
    }
    assert scopes == held["scopes"]
    assert "openid" in scopes
    assert scopes[-1].endswith("drive.readonly")


def test_a_second_registration_updates_both_and_makes_no_other(there: Registrations) -> None:
    there.registered()
    there.world.clients[CLIENT].secret = "rotated"
    status, told = there.hubctl(card=good_card() | {"version": "2.0.0"}, OAUTH_CLIENT_SECRET="rotated")
    assert status == 0
    assert "start a new conversation" in told
    (agent,) = there.world.agents.values()
    assert json.loads(agent.fields["a2aAgentDefinition"]["jsonAgentCard"])["version"] == "2.0.0"
    assert there.world.authorizations[AUTHORIZATION].oauth["clientSecret"] == "rotated"


def test_an_agent_is_found_by_its_cards_url_when_its_name_has_changed_and_on_whatever_page(
    there: Registrations,
) -> None:
    agent = there.registered()
    del there.world.agents[agent.name]
    for number in range(230):
        other = agent.name.rpartition("/")[0] + f"/{number}"
        card = good_card() | {"name": f"other {number}", "url": f"https://other{number}.example.com"}
        fields = {"displayName": "other", "a2aAgentDefinition": {"jsonAgentCard": json.dumps(card)}}
        there.world.agents[other] = Agent(name=other, fields=fields)
    there.world.agents[agent.name] = agent
    status, told = there.hubctl(card=good_card() | {"name": "Renamed"})
    assert status == 0, told
    assert len(there.world.agents) == 231
    assert there.world.agents[agent.name].fields["displayName"] == "Renamed"


def test_several_agents_of_the_card_are_told_and_one_is_chosen_by_its_id(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = there.registered()
    twin = Agent(name=agent.name + "1", fields={**agent.fields, "authorizationConfig": {}})
    there.world.agents[twin.name] = twin
    assert there.hubctl()[0] == 2
    told = capsys.readouterr().err
    assert "2 agents have this card's name or url" in told
    assert agent.name.rpartition("/")[2] in told
    chosen = good_card() | {"description": "chosen"}
    assert there.hubctl("--agent", agent.name.rpartition("/")[2], card=chosen)[0] == 0
    assert there.world.agents[agent.name].fields["description"] == "chosen"
    assert there.world.agents[twin.name].fields["description"] != "chosen"


def test_a_stale_secret_is_not_written(there: Registrations, capsys: pytest.CaptureFixture[str]) -> None:
    assert there.hubctl(OAUTH_CLIENT_SECRET="stale")[0] == 2
    assert "answers invalid_client to a throw-away code" in capsys.readouterr().err
    assert not there.world.authorizations
    assert not there.world.agents


@pytest.mark.parametrize("content", ["", "# a page\n\nof text", "two words", "秘密"])
def test_a_file_that_holds_no_secret_is_refused(
    there: Registrations, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = there.folder / "client.json"
    file.write_text(content)
    assert there.hubctl("--client-secret-file", str(file))[0] == 2
    assert "nor a bare secret" in capsys.readouterr().err


def test_the_secret_is_read_from_a_file_or_from_the_consoles_json(there: Registrations) -> None:
    bare, console = there.folder / "secret", there.folder / "client.json"
    bare.write_text(f"{SECRET}\n")
    console.write_text(json.dumps({"web": {"client_id": CLIENT, "client_secret": SECRET, "redirect_uris": []}}))
    for file in (bare, console):
        there.world.authorizations.clear()
        there.world.agents.clear()
        there.registered("--client-secret-file", str(file))
        assert there.world.authorizations[AUTHORIZATION].oauth["clientSecret"] == SECRET


def test_without_a_client_an_authorization_that_is_there_is_bound_as_it_is(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = {"OAUTH_CLIENT_ID": "", "OAUTH_CLIENT_SECRET": ""}
    assert there.hubctl(**nothing)[0] == 2
    assert "to create it, give --client-id and the secret" in capsys.readouterr().err
    there.registered()
    before = dict(there.world.authorizations[AUTHORIZATION].oauth)
    status, told = there.hubctl(**nothing)
    assert (status, there.world.authorizations[AUTHORIZATION].oauth) == (0, before)
    assert "left as it is" in told


def test_without_an_authorization_the_card_needs_no_security(there: Registrations) -> None:
    card = good_card()
    del card["security"], card["securitySchemes"]
    assert there.hubctl(card=card)[0] == 1
    assert there.hubctl("--no-authorization", card=card)[0] == 0
    (agent,) = there.world.agents.values()
    assert agent.authorization is None
    assert not there.world.authorizations


def test_an_agent_that_is_not_shared_stays_invisible_and_this_is_said(there: Registrations) -> None:
    _, told = there.hubctl("--not-shared")
    assert "people do not see it yet" in told
    assert shown_to_users(there.world, "global") == []


def test_a_card_with_errors_is_told_and_not_sent(there: Registrations) -> None:
    status, told = there.hubctl(card=good_card() | {"url": "http://hub.example.com"})
    assert status == 1
    assert "error: $.url" in told
    assert not there.world.authorizations


def test_each_location_has_its_own_host(there: Registrations) -> None:
    agent = there.registered("--location", "us")
    assert "/locations/us/" in agent.name
    assert agent.authorization == AUTHORIZATION.replace("global", "us")


def test_the_authorization_may_be_in_another_location_than_the_app(there: Registrations) -> None:
    agent = there.registered("--location", "us", "--authorization-location", "global")
    assert "/locations/us/" in agent.name
    assert agent.authorization == AUTHORIZATION


def test_an_agent_on_cloud_run_is_told_which_role_gemini_enterprise_needs(there: Registrations) -> None:
    _, told = there.hubctl(card=good_card() | {"url": "https://hub-abc-an.a.run.app"})
    assert "serviceAccount:service-123456789012@gcp-sa-discoveryengine.iam.gserviceaccount.com" in told


def test_one_authorization_serves_one_agent_and_the_way_out_is_told(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    there.registered()
    other = good_card() | {"name": "Other", "url": "https://other.example.com"}
    assert there.hubctl(card=other)[0] == 2
    told = capsys.readouterr().err
    assert "FAILED_PRECONDITION" in told
    assert "--authorization OTHER_ID" in told
    assert there.hubctl("--authorization", "other", card=other)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--app", "nope"], "There is no app 'nope' in location 'global' of 'demo'"),
        (["--location", "eu", "--no-authorization"], "There is no app 'hub-app' in location 'eu'"),
        (["--project", "other"], "--role=roles/serviceusage.serviceUsageConsumer"),
        (["--agent", "7"], "hubctl register list"),
        (["--endpoint", "http://127.0.0.1:1/{host}"], "the connection was refused"),
        (["--endpoint", "http://api.example.com/{host}"], "must hold {host}"),
        (["--endpoint", "http://127.0.0.1:1"], "must hold {host}"),
        (["apply", "7"], "write --agent 7"),
        (["--app", "a/b"], "--app 'a/b' is not an id"),
        (["list", "--dry-run"], "list changes nothing"),
        (["--client-id", "another"], "not that of another"),
        (
            ["--location", "us", "--authorization-location", "eu"],
            "try the other one with --authorization-location",
        ),
    ],
)
def test_what_cannot_be_done_is_told_with_the_way_out(
    there: Registrations, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert there.hubctl(*arguments)[0] == 2
    assert message in capsys.readouterr().err


def test_credentials_that_do_not_do_are_told_with_the_command_that_mends_them(
    there: Registrations, capsys: pytest.CaptureFixture[str]
) -> None:
    assert there.hubctl(CLOUDSDK_AUTH_ACCESS_TOKEN="expired")[0] == 2
    assert "gcloud auth application-default login" in capsys.readouterr().err
    there.world.operators[TOKEN] = Operator(email="user@example.com", roles=frozenset())
    assert there.hubctl()[0] == 2
    told = capsys.readouterr().err
    assert "gcloud projects add-iam-policy-binding demo" in told
    assert "--role=roles/discoveryengine.agentspaceAdmin" in told
    there.world.api_enabled = False
    assert there.hubctl()[0] == 2
    assert "gcloud services enable discoveryengine.googleapis.com --project=demo" in capsys.readouterr().err


def test_a_dry_run_prints_every_request_without_secrets_and_sends_none(there: Registrations) -> None:
    there.world.operators.clear()
    status, told = there.hubctl("--dry-run", "--endpoint", "https://api.example.com/{host}")
    assert status == 0
    assert SECRET not in told
    assert TOKEN not in told
    base = "https://api.example.com/discoveryengine.googleapis.com/v1alpha/projects/demo/locations/global"
    agents = f"{base}/collections/default_collection/engines/{APP}/assistants/default_assistant/agents"
    authorization = f"{base}/authorizations/a2a-hub"
    mask = "displayName,description,icon,a2aAgentDefinition,authorizationConfig,sharingConfig"
    assert [line for line in told.splitlines() if line.startswith(("GET", "POST", "PATCH"))] == [
        f"GET {agents}?pageSize=100",
        f"GET {authorization}",
        f"POST {base}/authorizations?authorizationId=a2a-hub",
        f"PATCH {authorization}?updateMask=serverSideOauth2",
        f"GET {authorization}",
        f"POST {agents}",
        f"PATCH {agents}/AGENT_ID?updateMask={mask}",
        f"GET {agents}/AGENT_ID",
    ]
    assert told.count('"clientSecret": "***"') == 2
    assert told.count("X-Goog-User-Project: demo") == 8


def test_without_an_endpoint_the_requests_go_to_googles_hosts(there: Registrations) -> None:
    _, told = there.hubctl("--dry-run", "--location", "eu", GOOGLE_ENDPOINT="")
    assert "POST https://eu-discoveryengine.googleapis.com/v1alpha/projects/demo/locations/eu/authorizations?" in told
