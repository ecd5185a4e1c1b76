"""Callers, refusals and operational pages as they come through the gateway."""

import json

import pytest

from tests.e2e.hubs import Hub
from tests.e2e.request_forms import FORMS, Form

_LIMIT_BYTES = 10 * 1024 * 1024
_QUESTION = "What is the height of Mount Fuji?"


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_nobody_is_answered_without_a_token(hub: Hub, form: Form) -> None:
    body = form.body(form.params(_QUESTION))
    for caller in (hub.stranger(), hub.unknown()):
        answer = caller.post(form.path, body, form.headers)
        assert answer.status == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "3,776" not in answer.body.decode()


@pytest.mark.parametrize("path", ["/routes", "/debug-version", "/tasks", "/extendedAgentCard"])
def test_the_other_private_pages_want_a_token_too(hub: Hub, path: str) -> None:
    assert hub.stranger().get(path).status == 401


def test_what_an_upstream_proxy_would_say_about_the_caller_is_not_believed(hub: Hub) -> None:
    headers = {
        "X-Serverless-Authorization": f"Bearer {hub.tokens[0]}",
        "X-Apigateway-Api-Userinfo": "eyJzdWIiOiJhIn0=",
        "X-Hub-Principal": "eyJzdWIiOiJhIn0.c2lnbmVk",
    }
    assert hub.stranger().request("GET", "/routes", headers=headers).status == 401


def test_a_token_counts_wherever_api_gateway_leaves_it(hub: Hub) -> None:
    """An X-Forwarded-Authorization without an Authorization passes API Gateway as it came, so it is verified like any other."""
    stranger = hub.stranger()
    for token, status in ((hub.tokens[0], 200), ("token-of-nobody", 401)):
        headers = {"X-Forwarded-Authorization": f"Bearer {token}"}
        assert stranger.request("GET", "/routes", headers=headers).status == status
    beside = {"X-Forwarded-Authorization": f"Bearer {hub.tokens[0]}"}
    assert hub.unknown().request("GET", "/routes", headers=beside).status == 401


def test_each_token_is_a_caller_of_its_own(hub: Hub) -> None:
    principals = []
    for number in range(len(hub.tokens)):
        before = hub.log_sizes()
        request_id = hub.caller(number).post("/tools/query", {"query": _QUESTION}).json["requestId"]
        lines = [json.loads(line) for line in hub.logged_since(before, name="hub").splitlines()]
        principals += [line["principal"] for line in lines if line["requestId"] == request_id]
    assert len(principals) == len(hub.tokens)
    assert len(set(principals)) == len(hub.tokens)
    assert not set(principals) & set(hub.tokens)


def test_no_log_holds_a_token_or_a_question(hub: Hub) -> None:
    before = hub.log_sizes()
    for form in FORMS:
        form.ask(hub.caller(), "What is the elevation of Mt Fuji")
    logged = hub.logged_since(before)
    # A stream's line may come after its last event; those of the others are there, the hub's and the agent's.
    assert logged.count('"operation"') >= 2 * sum(not form.streams for form in FORMS)
    for secret in (*hub.tokens, "elevation"):
        assert secret not in logged


@pytest.mark.parametrize("path", ["/", "/message:send", "/v1/message:send", "/message:stream", "/tools/query"])
@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
def test_a_body_over_the_limit_is_refused_as_too_large(hub: Hub, path: str, chunked: bool) -> None:
    body = b'{"query": "' + b"a" * _LIMIT_BYTES + b'"}'
    # http.client sends an iterable, of which it does not know the length, in chunks.
    sent = iter([body[: _LIMIT_BYTES // 2], body[_LIMIT_BYTES // 2 :]]) if chunked else body
    answer = hub.caller().post(path, sent)
    assert answer.status == 413
    assert "json" in answer.media_type
    assert str(_LIMIT_BYTES) in answer.body.decode()


def test_a_body_just_under_the_limit_is_read(hub: Hub) -> None:
    padding = "a" * (_LIMIT_BYTES - 1000)
    answer = hub.caller().post("/tools/query", {"query": f"富士山の高さは {padding}"})
    assert answer.status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("DELETE", "/", 405),
        ("PUT", "/", 405),
        ("GET", "/message:send", 405),
        ("GET", "/v1/message:stream", 405),
        ("GET", "/tools/query", 405),
        ("POST", "/.well-known/agent-card.json", 405),
        ("DELETE", "/.well-known/agent.json", 405),
        ("GET", "/nothing", 404),
        ("POST", "/v1/tasks/1/nothing", 404),
        ("POST", "/.well-known/other.json", 404),
    ],
)
def test_a_wrong_method_or_path_is_refused_in_json(hub: Hub, method: str, path: str, status: int) -> None:
    answer = hub.caller().request(method, path)
    assert answer.status == status
    assert answer.json["error"]["code"] == status


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/health",
        "/openapi.yaml",
        "/routes",
        "/debug-version",
        "/.well-known/agent-card.json",
        "/nothing",
    ],
)
def test_head_tells_what_get_would_without_the_body(hub: Hub, path: str) -> None:
    got, head = hub.caller().get(path), hub.caller().request("HEAD", path)
    assert head.status == got.status
    assert head.body == b""
    assert head.headers["content-type"] == got.headers["content-type"]
    assert head.headers["content-length"] == str(len(got.body))


def test_the_pages_for_everybody_need_no_token(hub: Hub) -> None:
    stranger = hub.stranger()
    assert "A2A" in stranger.get("/").body.decode()
    assert stranger.get("/health").json == {"status": "ok"}
    assert stranger.get("/openapi.yaml").body.startswith(b"openapi: 3.1")


def test_the_pages_for_callers_tell_rules_and_version_but_no_address(hub: Hub) -> None:
    routes = hub.caller().get("/routes")
    assert [route["id"] for route in routes.json["routes"]] == [
        "pm",
        "expense",
        "docqa",
        "devtool",
        "general",
    ]
    assert b"127.0.0.1" not in routes.body
    assert hub.caller().get("/debug-version").json["protocolVersions"] == ["0.3", "1.0"]


def test_the_address_of_the_endpoint_may_end_with_or_without_a_slash(hub: Hub) -> None:
    form = FORMS[4]
    slashed = hub.caller().post(form.path + "/", form.body(form.params(_QUESTION)), form.headers)
    assert "3,776" in form.told(slashed).text
