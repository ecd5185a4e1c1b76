"""The stand-in of Gemini Enterprise behaves as docs/gemini-enterprise.md says the real one does."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from a2a_hub.http.client import Budget, HttpClient
from tests.fakes.gemini_enterprise.server import Server
from tests.fakes.gemini_enterprise.world import OAuthClient, Operator, World
from tests.integration.registrations import shown_to_users
from tests.unit.cards import good_card

GLOBAL = "discoveryengine.googleapis.com/v1alpha/projects/demo/locations/global"
AGENTS = f"{GLOBAL}/collections/default_collection/engines/hub-app/assistants/default_assistant/agents"
AUTHORIZATIONS = f"{GLOBAL}/authorizations"
OAUTH = {
    "clientId": "client",
    "clientSecret": "secret",
    "authorizationUri": "https://accounts.google.com/o/oauth2/v2/auth",
    "tokenUri": "https://oauth2.googleapis.com/token",
}


class Client:
    """Sends JSON to the stand-in as one of its operators."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = HttpClient()

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        form: bool = False,
        token: str = "admin",
        project: str = "demo",
    ) -> tuple[int, Any]:
        headers = {"authorization": f"Bearer {token}", "x-goog-user-project": project}
        content = urlencode(body).encode() if form else None if body is None else json.dumps(body).encode()
        budget = Budget(deadline=self._http.clock() + 30, connect_seconds=5, idle_seconds=30, max_bytes=1 << 24)
        sent = {name: value for name, value in headers.items() if value and not value.endswith(" ")}
        answer = self._http.request(method, f"{self._url}/{path}", headers=sent, body=content, budget=budget)
        text = answer.read()
        return answer.status, json.loads(text) if text else answer.headers.get("location")


@pytest.fixture
def world() -> World:
    return World(
        apps={("global", "hub-app"), ("us", "hub-app")},
        operators={
            "admin": Operator(email="admin@example.com"),
            "viewer": Operator(email="viewer@example.com", roles=frozenset()),
        },
        clients={"client": OAuthClient(id="client", secret="secret")},
    )


@pytest.fixture
def send(world: World) -> Iterator[Client]:
    with Server(world) as server:
        yield Client(server.url)


def agent(**changed: object) -> dict[str, Any]:
    card = json.dumps(good_card())
    return {
        "displayName": "Hub",
        "description": "One for many.",
        "a2aAgentDefinition": {"jsonAgentCard": card},
        **changed,
    }


def with_card(**changed: object) -> dict[str, Any]:
    card = {name: value for name, value in (good_card() | changed).items() if value is not None}
    return agent(a2aAgentDefinition={"jsonAgentCard": json.dumps(card)})


def test_an_authorization_that_exists_is_409_and_keeps_its_values(send: Client, world: World) -> None:
    path = f"{AUTHORIZATIONS}?authorizationId=a"
    assert send("POST", path, {"serverSideOauth2": OAUTH})[0] == 200
    status, answer = send("POST", path, {"serverSideOauth2": OAUTH | {"clientSecret": "new"}})
    assert (status, answer["error"]["status"]) == (409, "ALREADY_EXISTS")
    assert [each.oauth["clientSecret"] for each in world.authorizations.values()] == ["secret"]


def test_a_patch_without_a_mask_answers_200_and_changes_nothing(send: Client, world: World) -> None:
    send("POST", f"{AUTHORIZATIONS}?authorizationId=a", {"serverSideOauth2": OAUTH})
    new = {"serverSideOauth2": OAUTH | {"clientSecret": "new"}}
    (authorization,) = world.authorizations.values()
    assert send("PATCH", f"{AUTHORIZATIONS}/a", new)[0] == 200
    assert authorization.oauth["clientSecret"] == "secret"
    assert send("PATCH", f"{AUTHORIZATIONS}/a?updateMask=serverSideOauth2", new)[0] == 200
    assert authorization.oauth["clientSecret"] == "new"


def test_the_secret_is_never_given_out(send: Client) -> None:
    given = send("POST", f"{AUTHORIZATIONS}?authorizationId=a", {"serverSideOauth2": OAUTH})
    for status, answer in (given, send("GET", f"{AUTHORIZATIONS}/a"), send("GET", AUTHORIZATIONS)):
        assert status == 200
        assert "secret" not in json.dumps(answer).lower()


def test_agents_that_are_alike_are_taken_and_the_server_numbers_them(send: Client, world: World) -> None:
    names = [send("POST", AGENTS, agent())[1]["name"] for _ in range(2)]
    assert len(set(names)) == 2
    assert all(name.startswith("projects/123456789012/locations/global/") for name in names)
    assert shown_to_users(world, "global") == []
    send("PATCH", f"{GLOBAL.partition('/projects')[0]}/{names[0]}", {"sharingConfig": {"scope": "ALL_USERS"}})
    assert shown_to_users(world, "global") == ["Hub"]


def test_agents_come_in_pages_and_an_empty_list_is_an_empty_object(send: Client) -> None:
    assert send("GET", f"{AGENTS}?pageSize=100") == (200, {})
    for _ in range(3):
        send("POST", AGENTS, agent())
    _, first = send("GET", f"{AGENTS}?pageSize=2")
    _, second = send("GET", f"{AGENTS}?pageSize=2&pageToken={first['nextPageToken']}")
    assert [len(page["agents"]) for page in (first, second)] == [2, 1]
    assert "nextPageToken" not in second


def test_a_deletion_is_an_operation_that_takes_a_while(send: Client) -> None:
    name = send("POST", AGENTS, agent())[1]["name"]
    base = "discoveryengine.googleapis.com/v1alpha"
    operation = send("DELETE", f"{base}/{name}")[1]
    assert not operation["done"]
    assert send("GET", f"{base}/{name}")[0] == 200
    while not send("GET", f"{base}/{operation['name']}")[1]["done"]:
        pass
    assert send("GET", f"{base}/{name}")[0] == 404


def test_one_authorization_serves_one_agent(send: Client) -> None:
    send("POST", f"{AUTHORIZATIONS}?authorizationId=a", {"serverSideOauth2": OAUTH})
    bound = agent(authorizationConfig={"agentAuthorization": "projects/demo/locations/global/authorizations/a"})
    assert send("POST", AGENTS, bound)[0] == 200
    status, answer = send("POST", AGENTS, bound)
    assert (status, answer["error"]["status"]) == (400, "FAILED_PRECONDITION")
    assert "used by another agent" in answer["error"]["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (with_card(protocolVersion=None), "required property 'protocolVersion' not found in object"),
        (with_card(supportedInterfaces=[]), "additional property 'supportedInterfaces'"),
        (with_card(schema_version="v1"), "additional property 'schema_version'"),
        (with_card(skills=["pm"]), "At /skills/0 - unexpected instance type"),
        (with_card(url="http://hub.example.com"), "url must use https"),
        (agent(a2aAgentDefinition={"jsonAgentCard": "{"}), "Invalid agent card"),
        (agent(a2aAgentDefinition={"jsonAgentCard": good_card()}), "a2aAgentDefinition.jsonAgentCard"),
        (agent(a2aAgentDefinition={}), "agent definitions is required"),
        (agent(displayName=""), "displayName is required"),
        (agent(colour="red"), 'Unknown name "colour": Cannot find field.'),
        (agent(sharingConfig={"scope": "EVERYBODY"}), "sharing_config.scope"),
        (agent(authorizationConfig={"agentAuthorization": "projects/demo/x"}), "not found"),
        ([], "an object is expected"),
    ],
)
def test_an_agent_that_cannot_be_is_an_invalid_argument(send: Client, body: Any, message: str) -> None:
    status, answer = send("POST", AGENTS, body)
    assert (status, answer["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert message in answer["error"]["message"]


@pytest.mark.parametrize(
    ("path", "caller", "status", "message"),
    [
        (AGENTS, {"token": ""}, 401, "invalid authentication credentials"),
        (AGENTS, {"token": "other"}, 401, "invalid authentication credentials"),
        (AGENTS, {"token": "viewer"}, 403, "denied on resource"),
        (AGENTS, {"project": ""}, 403, "quota project"),
        (AGENTS, {"project": "another"}, 403, "permission to use project another"),
        (AGENTS.replace("hub-app", "none"), {}, 404, "Engine"),
        (AGENTS.replace("default_collection", "mine"), {}, 404, "Engine"),
        (
            AGENTS.replace("/global/", "/us/"),
            {},
            400,
            'only serve traffic from "global" region, but got "us"',
        ),
        (f"us-{AGENTS.replace('/global/', '/us/')}", {}, 200, ""),
        (f"{AGENTS}/1", {}, 404, "Agent"),
        (f"{AUTHORIZATIONS}/none", {}, 404, "Authorization"),
        (AGENTS.replace("v1alpha", "v1"), {}, 404, "Method not found"),
        ("storage.googleapis.com/b", {}, 404, "Nothing is served"),
        (f"{AGENTS}?pageSize=x", {}, 400, "page size"),
    ],
)
def test_whoever_and_whatever_is_not_known_is_refused(
    send: Client, path: str, caller: dict[str, Any], status: int, message: str
) -> None:
    code, answer = send("GET", path, **caller)
    assert code == status
    assert message in json.dumps(answer).replace('\\"', '"')


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({}, 400, "invalid_grant"),
        ({"client_secret": "stale"}, 401, "invalid_client"),
        ({"client_id": "nobody"}, 401, "invalid_client"),
        ({"redirect_uri": "https://example.com"}, 400, "redirect_uri_mismatch"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
    ],
)
def test_the_token_endpoint_looks_at_the_client_before_the_code(
    send: Client, changed: dict[str, str], status: int, error: str
) -> None:
    form = {
        "grant_type": "authorization_code",
        "code": "x",
        "client_id": "client",
        "client_secret": "secret",
        "redirect_uri": "https://vertexaisearch.cloud.google.com/oauth-redirect",
    }
    code, answer = send("POST", "oauth2.googleapis.com/token", form | changed, form=True)
    assert (code, answer["error"]) == (status, error)


@pytest.mark.parametrize(
    ("changed", "page"),
    [
        ({}, "https://accounts.google.com/v3/signin/identifier?"),
        (
            {"redirect_uri": "https://example.com"},
            "https://accounts.google.com/signin/oauth/error?authError=",
        ),
        ({"client_id": "nobody"}, "https://accounts.google.com/signin/oauth/error?authError="),
        ({"response_type": "token"}, "https://accounts.google.com/signin/oauth/error?authError="),
    ],
)
def test_a_consent_goes_on_to_the_sign_in_or_to_the_error_page(
    send: Client, changed: dict[str, str], page: str
) -> None:
    query = {
        "client_id": "client",
        "redirect_uri": "https://vertexaisearch.cloud.google.com/oauth-redirect",
        "response_type": "code",
    }
    status, location = send("GET", f"accounts.google.com/o/oauth2/v2/auth?{urlencode(query | changed)}")
    assert status == 302
    assert location.startswith(page)
