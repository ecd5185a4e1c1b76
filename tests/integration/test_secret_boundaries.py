"""The boundaries `api_key` and `oauth_client_credentials`, over the wire: what agents get, and what nobody ever sees."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from a2a_hub.boundaries.kinds import ApiKey
from a2a_hub.boundaries.secret_store import SecretStore
from a2a_hub.boundaries.sources import (
    ClientAuthentication,
    CredentialSources,
    NoCredential,
)
from a2a_hub.boundaries.token_endpoint import TokenEndpoints
from a2a_hub.diagnosis.report import Outcome
from a2a_hub.http.client import HttpClient
from tests.fakes.http_server import Exchange, HttpServer, Received
from tests.fakes.hub import TOKEN, Hub, route, text_of
from tests.fakes.local_cloud import account
from tests.integration.gates import function
from tests.integration.guarded_agents import (
    FROM_ENVIRONMENT,
    KEY,
    RESOURCE,
    SECRET,
    SETTINGS,
    Clock,
    GuardedAgent,
    SecretManager,
    bearer_of,
    client_of,
    examined,
    oauth_of,
    owner,
    requests_for_tokens,
    store_of,
    with_key,
)


def test_an_api_key_goes_into_the_header_that_the_route_names() -> None:
    with GuardedAgent(with_key) as agent:
        boundary = ApiKey(secret=FROM_ENVIRONMENT, name="X-Travel-Key")
        hub = Hub(route("alpha", agent.url, boundary=boundary), settings=SETTINGS)
        assert text_of(hub.send("Hello")) == "Bon voyage"
        assert hub.query("Hello")["answer"] == "Bon voyage"
    assert all(received.headers["x-travel-key"] == KEY for received in agent.received)
    assert not any("authorization" in received.headers for received in agent.received)


@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@pytest.mark.parametrize("version", ["0.3", "1.0"])
def test_an_api_key_goes_into_the_query_of_every_request(version: str, binding: str) -> None:
    paths = []

    def admits(received: Received) -> bool:
        paths.append(received.path)
        return received.path.endswith("?travel.key=key-of-the-travel-agent")

    with GuardedAgent(admits, version=version, binding=binding) as agent:
        boundary = ApiKey(secret=FROM_ENVIRONMENT, name="travel.key", in_query=True)
        hub = Hub(route("alpha", agent.url, boundary=boundary), settings=SETTINGS)
        hub.send("Hello")
    assert paths
    assert all(path.endswith(f"?travel.key={KEY}") for path in (*paths, *agent.cards))
    assert KEY not in str([received.headers for received in agent.received])


@pytest.mark.parametrize("name", ["X-Travel-Key", "Authorization"])
def test_a_key_that_the_agent_refuses_is_the_operators_business(name: str) -> None:
    with GuardedAgent(lambda _: False) as agent:
        boundary = ApiKey(secret=FROM_ENVIRONMENT, name=name)
        hub = Hub(route("alpha", agent.url, boundary=boundary), settings=SETTINGS)
        assert "did not let the hub in" in text_of(hub.send("Hello"))
        error = hub.query("Hello")["error"]
    assert (error["fault"], error["httpStatus"]) == ("unauthenticated", 401)
    assert "comes from the variable TRAVEL_KEY" in error["remedy"]
    assert ('a token after "Bearer "' in error["remedy"]) == (name == "Authorization")


def test_a_key_that_there_is_not_calls_nobody() -> None:
    with GuardedAgent(with_key) as agent:
        hub = Hub(route("alpha", agent.url, boundary=ApiKey(secret=FROM_ENVIRONMENT)))
        error = hub.query("Hello")["error"]
    assert (error["fault"], agent.received) == ("no_secret", [])
    assert error["remedy"].startswith("set TRAVEL_KEY in the hub's environment")


def test_a_secret_of_secret_manager_is_read_once_for_all_and_again_after_five_minutes() -> None:
    clock = Clock()
    with SecretManager() as manager:
        store = store_of(manager, clock)
        with ThreadPoolExecutor(8) as threads:
            assert set(threads.map(lambda _: store.value(RESOURCE), range(8))) == {KEY}
        assert len(manager.received) == 1
        manager.secret, clock.now = "another", clock.now + 301
        assert store.value(RESOURCE) == "another"
        manager.status, clock.now = 503, clock.now + 301
        assert store.value(RESOURCE) == "another"


def test_a_key_that_was_replaced_in_secret_manager_is_sent_after_the_first_401() -> None:
    with SecretManager("old-key") as manager, GuardedAgent(with_key) as agent:
        alpha = route("alpha", agent.url, boundary=ApiKey(secret=RESOURCE, name="x-travel-key"))
        sources = CredentialSources(secrets=store_of(manager))
        assert sources.secret(RESOURCE) == "old-key"
        manager.secret = KEY
        assert examined(alpha, sources)["access"].outcome is Outcome.OK
    assert len(manager.received) == 2


@pytest.mark.parametrize(
    ("status", "error", "remedy"),
    [
        (403, "Permission denied", "gcloud secrets add-iam-policy-binding travel-key --project=my-project"),
        (403, "SERVICE_DISABLED", "gcloud services enable secretmanager.googleapis.com --project=my-project"),
        (404, "not found", "gcloud secrets versions add travel-key --project=my-project"),
        (500, "oops", "try again"),
    ],
)
def test_a_secret_that_cannot_be_read_comes_with_what_fixes_it(status: int, error: str, remedy: str) -> None:
    with SecretManager(status=status, error=error) as manager, pytest.raises(NoCredential) as raised:
        store_of(manager).value(RESOURCE)
    assert raised.value.remedy.startswith(remedy)
    assert error not in raised.value.cause


@pytest.mark.parametrize("method", ClientAuthentication)
def test_a_token_is_fetched_once_for_all_who_wait_and_goes_to_the_agent(method: ClientAuthentication) -> None:
    with owner() as (server, url), GuardedAgent(bearer_of(server)) as agent:
        boundary = oauth_of(url, authentication=method)
        hub = Hub(route("alpha", agent.url, boundary=boundary), settings=SETTINGS)
        with ThreadPoolExecutor(8) as threads:
            answers = set(threads.map(lambda _: hub.query("Hello")["answer"], range(8)))
        assert answers == {"Bon voyage"}
        (request,) = requests_for_tokens(url)
    assert ("authorization" in request["headers"]) is (method is ClientAuthentication.BASIC)
    assert {received.headers["authorization"] for received in agent.received} == {"Bearer access-token-1"}


def test_scopes_and_audience_go_to_the_token_endpoint() -> None:
    def answer(exchange: Exchange) -> None:
        exchange.json({"access_token": "t", "token_type": "bearer", "expires_in": "60"})

    with HttpServer(answer) as server:
        tokens = TokenEndpoints(HttpClient(), SecretStore(SETTINGS, http=HttpClient(), tokens=None))
        client = client_of(server.url, scopes=("book", "read"), audience="https://travel.example")
        assert tokens.value(client) == "t"
    sent = server.received[0]
    assert sent.body == (b"grant_type=client_credentials&scope=book+read&audience=https%3A%2F%2Ftravel.example")
    pair = base64.b64decode(sent.headers["authorization"].removeprefix("Basic ")).decode()
    assert pair == "the%3Ahub:secret+of%2Fthe%2Bhub"


def test_a_token_is_fetched_anew_shortly_before_it_expires() -> None:
    clock = Clock()
    with owner(lifetime_seconds=600.0) as (_, url):
        http = HttpClient(clock=clock)
        tokens = TokenEndpoints(http, SecretStore(SETTINGS, http=http, tokens=None))
        assert tokens.value(client_of(url)) == "access-token-1"
        clock.now += 539
        assert tokens.value(client_of(url)) == "access-token-1"
        clock.now += 1
        assert tokens.value(client_of(url)) == "access-token-2"


def test_a_token_that_lives_on_is_used_while_its_endpoint_is_away() -> None:
    clock = Clock()
    with owner(lifetime_seconds=600.0) as (server, url):
        http = HttpClient(clock=clock)
        tokens = TokenEndpoints(http, SecretStore(SETTINGS, http=http, tokens=None))
        tokens.value(client_of(url))
        server.faults.switch_on("server-error")
        clock.now += 590
        assert tokens.value(client_of(url)) == "access-token-1"
        clock.now += 11
        with pytest.raises(NoCredential, match="HTTP 500"):
            tokens.value(client_of(url))


def test_a_token_that_the_agent_refuses_is_fetched_anew_once_for_all() -> None:
    with owner() as (server, url), GuardedAgent(bearer_of(server)) as agent:
        hub = Hub(route("alpha", agent.url, boundary=oauth_of(url)), settings=SETTINGS)
        assert hub.query("Hello")["answer"] == "Bon voyage"
        server.faults.switch_on("expired-early")
        with ThreadPoolExecutor(8) as threads:
            answers = set(threads.map(lambda _: hub.query("Hello")["answer"], range(8)))
        assert answers == {"Bon voyage"}
        assert len(requests_for_tokens(url)) == 2


def test_an_agent_that_refuses_every_token_is_asked_twice_and_no_more() -> None:
    with owner() as (_, url), GuardedAgent(lambda _: False) as agent:
        hub = Hub(route("alpha", agent.url, boundary=oauth_of(url)), settings=SETTINGS)
        error = hub.query("Hello")["error"]
        assert len(requests_for_tokens(url)) == 2
    assert [received.headers["authorization"] for received in agent.asked] == [
        "Bearer access-token-1",
        "Bearer access-token-2",
    ]
    assert error["fault"] == "unauthenticated"
    assert "compare token_url, scopes and audience of route alpha" in error["remedy"]


@pytest.mark.parametrize(
    ("fault", "scopes", "expected", "remedy"),
    [
        ("invalid-client", ("book",), "token_endpoint_invalid_client", "check client_id, client_secret"),
        ("server-error", ("book",), "token_endpoint_error", "check token_url"),
        ("", ("fly",), "token_endpoint_invalid_scope", "check scopes"),
    ],
)
def test_a_token_endpoint_that_fails_is_named_with_what_fixes_it(
    fault: str, scopes: tuple[str, ...], expected: str, remedy: str
) -> None:
    with owner() as (server, url), GuardedAgent(bearer_of(server)) as agent:
        if fault:
            server.faults.switch_on(fault)
        hub = Hub(route("alpha", agent.url, boundary=oauth_of(url, scopes=scopes)), settings=SETTINGS)
        assert "did not let the hub in" in text_of(hub.send("Hello"))
        error = hub.query("Hello")["error"]
    assert (error["fault"], agent.received) == (expected, [])
    assert error["remedy"].startswith(remedy)


def test_nobody_waits_for_a_slow_token_endpoint_for_longer_than_agreed() -> None:
    with owner() as (server, url):
        server.faults.switch_on("latency", seconds=10)
        secrets = SecretStore(SETTINGS, http=HttpClient(), tokens=None)
        tokens = TokenEndpoints(HttpClient(), secrets, max_wait_seconds=0.01)
        with pytest.raises(NoCredential) as raised:
            tokens.value(client_of(url))
        server.faults.switch_off("latency")
        # What came too late serves the next caller.
        late = TokenEndpoints(HttpClient(), secrets)
        assert late.value(client_of(url)).startswith("access-token-")
    assert raised.value.fault == "credential_timeout"


@pytest.mark.parametrize(
    "answer",
    [
        b"no json",
        b"[]",
        b'{"access_token": "", "token_type": "Bearer"}',
        b'{"access_token": "a\\r\\nx-evil: 1", "token_type": "Bearer"}',
        b'{"access_token": "t", "token_type": "mac"}',
        b'{"access_token": {"a": 1}}',
        b"[" * 50_000,
    ],
)
def test_an_answer_that_holds_no_bearer_token_is_contained(answer: bytes) -> None:
    with HttpServer(lambda exchange: exchange.answer(200, answer, content_type="application/json")) as server:
        tokens = TokenEndpoints(HttpClient(), SecretStore(SETTINGS, http=HttpClient(), tokens=None))
        with pytest.raises(NoCredential) as raised:
            tokens.value(client_of(server.url))
    assert raised.value.fault == "no_access_token"


def test_a_redirect_of_the_token_endpoint_gets_no_secret() -> None:
    with (
        HttpServer(lambda exchange: exchange.answer(200)) as thief,
        HttpServer(lambda exchange: exchange.answer(307, location=thief.url)) as server,
    ):
        tokens = TokenEndpoints(HttpClient(), SecretStore(SETTINGS, http=HttpClient(), tokens=None))
        with pytest.raises(NoCredential):
            tokens.value(client_of(server.url))
        assert thief.received == []


@pytest.mark.parametrize("fault", ["", "invalid-client", "server-error", "refused"])
@pytest.mark.parametrize("kind", ["header", "query", "oauth"])
def test_no_secret_is_in_any_output(kind: str, fault: str) -> None:
    with owner() as (server, url):
        admits = bearer_of(server) if kind == "oauth" else (lambda received: KEY in str(received))
        if fault in ("invalid-client", "server-error"):
            server.faults.switch_on(fault)
        with GuardedAgent((lambda _: False) if fault == "refused" else admits) as agent:
            boundary = oauth_of(url) if kind == "oauth" else ApiKey(secret=FROM_ENVIRONMENT, in_query=kind == "query")
            hub = Hub(route("alpha", agent.url, boundary=boundary), settings=SETTINGS, log_text=True)
            outputs = [json.dumps([hub.send("Hello"), hub.stream("Hello"), hub.query("Hello")])]
            for path in ("/routes", "/doctor", "/.well-known/agent-card.json", "/debug-version"):
                response = hub.request("GET", path)
                assert isinstance(response.body, bytes)
                outputs.append(response.body.decode())
            outputs += [str(hub.log), repr(boundary), str(route("alpha", agent.url, boundary=boundary))]
    everything = "\n".join(outputs)
    assert "alpha" in everything
    for secret in (KEY, SECRET, "secret+of", "access-token-", TOKEN):
        assert secret not in everything


_ROUTES = """
[[routes]]
id = "hotel"
name = "Hotel"
description = "Books rooms."
priority = 1
url = "{hotel}"
keywords = ["room"]
boundary = "api_key"
api_key = "{resource}"
api_key_header = "X-Travel-Key"

[[routes]]
id = "travel"
name = "Travel"
description = "Books flights."
url = "{travel}"
boundary = "oauth_client_credentials"
token_url = "{login}/token"
client_id = "the:hub"
client_secret = "env:TRAVEL_SECRET"
scopes = ["book"]
default = true
"""


def test_a_hub_that_runs_crosses_both_boundaries_of_its_table(tmp_path: Path) -> None:
    with (
        owner() as (server, login),
        account("hub@my-hub-project.iam.gserviceaccount.com") as metadata,
        HttpServer(_any_secret_manager) as manager,
        GuardedAgent(bearer_of(server)) as travel,
        GuardedAgent(with_key) as hotel,
    ):
        table = _ROUTES.format(hotel=hotel.url, travel=travel.url, login=login, resource=RESOURCE.text)
        (tmp_path / "routes.toml").write_text(table)
        host = metadata.removeprefix("http://")
        settings = {
            "ROUTES_FILE": str(tmp_path / "routes.toml"),
            "HUB_DEV_TOKEN": TOKEN,
            "TRAVEL_SECRET": SECRET,
            "SECRET_MANAGER_ENDPOINT": manager.url,
            "GCE_METADATA_HOST": host,
            "GCE_METADATA_IP": host,
        }
        with function("hub", tmp_path, **settings) as hub:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            asked = [
                hub.ask(path="/tools/query", body=json.dumps({"query": query}).encode(), headers=headers)
                for query in ("a room", "a flight")
            ]
            outputs = "".join(answer.body.decode() for answer in asked) + hub.log.read_text()
    answers = [json.loads(answer.body) for answer in asked]
    assert [(each["boundary"], each["answer"]) for each in answers] == [
        ("api_key", "Bon voyage"),
        ("oauth_client_credentials", "Bon voyage"),
    ]
    assert manager.received[0].headers["authorization"].startswith("Bearer ya29.")
    assert not any(secret in outputs for secret in (KEY, SECRET, "access-token-", "ya29."))


def _any_secret_manager(exchange: Exchange) -> None:
    exchange.json({"payload": {"data": base64.b64encode(KEY.encode()).decode()}})
