"""Who may not in, and how they are told: 401 in the form of what they asked for, on everything that is not public."""

import json
from typing import Any, cast

import pytest

from local.settings import key_pair
from tests.fakes.agent_server import AgentServer, ReceivedMessage
from tests.fakes.agent_wire import Json, message, text
from tests.fakes.hub import OTHER_TOKEN, TOKEN, Hub, route, text_of

_SEND = b'{"jsonrpc": "2.0", "id": 7, "method": "message/send", "params": {}}'
_PUBLIC = [
    ("GET", "/"),
    ("GET", "/health"),
    ("GET", "/openapi.yaml"),
    ("GET", "/.well-known/agent-card.json"),
    ("GET", "/.well-known/agent.json"),
]
_CLOSED = [
    ("POST", "/", _SEND),
    ("POST", "/", b'{"jsonrpc": "2.0", "id": 7, "method": "message/stream", "params": {}}'),
    ("POST", "/", b"no json"),
    ("POST", "/", b""),
    ("POST", "/message:send", b"{}"),
    ("POST", "/message:stream", b"{}"),
    ("POST", "/v1/message:send", b"{}"),
    ("GET", "/v1/card", b""),
    ("GET", "/tasks/1", b""),
    ("POST", "/tools/query", b'{"query": "Hi"}'),
    ("POST", "/tools/query/", b'{"query": "Hi"}'),
    ("GET", "/tools/query", b""),
    ("GET", "/routes", b""),
    ("GET", "/debug-version", b""),
    ("GET", "/activity", b""),
    ("GET", "/nowhere", b""),
    ("PUT", "/", b""),
]
_NO_CREDENTIAL: list[tuple[str, dict[str, str], str]] = [
    ("none", {}, 'Bearer realm="a2a"'),
    ("empty", {"authorization": ""}, 'Bearer realm="a2a"'),
    ("another scheme", {"authorization": "Basic b25lOnR3bw=="}, 'Bearer realm="a2a"'),
    ("no scheme", {"authorization": TOKEN}, 'Bearer realm="a2a"'),
    ("no token", {"authorization": "Bearer "}, 'Bearer realm="a2a"'),
    ("two tokens", {"authorization": f"Bearer {TOKEN} {TOKEN}"}, 'Bearer realm="a2a"'),
    ("a wrong token", {"authorization": "Bearer wrong"}, 'Bearer realm="a2a", error="invalid_token"'),
    ("half a token", {"authorization": f"Bearer {TOKEN[:-1]}"}, 'Bearer realm="a2a", error="invalid_token"'),
    ("a token in Latin-1", {"authorization": "Bearer tok\xe9n"}, 'Bearer realm="a2a"'),
    ("a token elsewhere", {"x-serverless-authorization": f"Bearer {TOKEN}"}, 'Bearer realm="a2a"'),
    ("a forged principal", {"x-hub-principal": "e30.e30"}, 'Bearer realm="a2a"'),
]


@pytest.mark.parametrize(
    ("headers", "challenge"), [row[1:] for row in _NO_CREDENTIAL], ids=[row[0] for row in _NO_CREDENTIAL]
)
def test_without_a_good_token_there_is_nothing(headers: dict[str, str], challenge: str) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    for method, path, body in _CLOSED:
        response = hub.request(method, path, body, token=None, headers=headers)
        assert response.status == 401, (method, path)
        assert response.headers["www-authenticate"] == challenge
        told = json.loads(cast("bytes", response.body))
        _is_a_refusal_of(path, told, response.headers["content-type"])
        assert TOKEN[:-1] not in json.dumps(told)
        assert "alpha" not in json.dumps(told)


@pytest.mark.parametrize(("method", "path"), _PUBLIC)
@pytest.mark.parametrize("token", [None, "wrong", TOKEN])
def test_public_pages_need_no_token(method: str, path: str, token: str | None) -> None:
    assert Hub(route("alpha", "http://127.0.0.1:9")).request(method, path, token=token).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    ("path", "allow"),
    [
        ("/health", "GET, HEAD"),
        ("/openapi.yaml", "GET, HEAD"),
        ("/routes", "GET, HEAD"),
        ("/routes/", "GET, HEAD"),
        ("/debug-version", "GET, HEAD"),
        ("/.well-known/agent-card.json", "GET, HEAD"),
        ("/.well-known/jwks.json", "GET, HEAD"),
        ("/doctor", "GET"),
        ("/activity", "GET"),
    ],
)
def test_a_page_that_is_only_read_says_so_to_other_methods(method: str, path: str, allow: str) -> None:
    _, public = key_pair()
    hub = Hub(route("alpha", "http://127.0.0.1:9"), settings={"WEBHOOK_PUBLIC_KEYS": public})
    response = hub.request(method, path, b"{}")
    assert (response.status, response.headers["allow"]) == (405, allow)
    assert json.loads(cast("bytes", response.body))["error"]["code"] == 405


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer  "])
def test_the_schemes_case_does_not_matter(scheme: str) -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    assert hub.request("GET", "/routes", token=None, headers={"authorization": f"{scheme} {TOKEN}"}).status == 200


def test_a_token_in_the_url_is_no_token() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    assert hub.request("GET", "/routes", token=None, query={"access_token": [TOKEN]}).status == 401


def test_several_tokens_are_different_callers() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"))
    for token in (TOKEN, OTHER_TOKEN, TOKEN):
        hub.query("Hi", token=token)
    first, second, third = (line["principal"] for line in hub.log)
    assert first == third != second
    assert not any(token in first + second for token in (TOKEN, OTHER_TOKEN))


def test_the_body_of_a_refused_request_is_not_read() -> None:
    hub = Hub(route("alpha", "http://127.0.0.1:9"), max_body_bytes=1024)
    assert hub.request("POST", "/", b" " * 5000, token=None).status == 401


def test_a_hub_for_anonymous_callers_lets_everybody_in() -> None:
    def hello(said: ReceivedMessage) -> list[Json]:
        return [message(text(f"Hello {said.text}"))]

    with AgentServer(hello) as agent:
        hub = Hub(route("alpha", agent.url), anonymous=True)
        assert text_of(hub.send("you", token=None)) == "Hello you"
        assert "principal" not in hub.log[-1]


def _is_a_refusal_of(path: str, told: Any, content_type: str) -> None:
    if path.startswith("/tools/"):
        assert content_type == "application/problem+json"
        assert told["status"] == 401
        assert told["requestId"]
        return
    assert content_type == "application/json"
    if path == "/":
        assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", None, -32600)
    else:
        assert (told["error"]["code"], told["error"]["status"]) == (401, "UNAUTHENTICATED")
