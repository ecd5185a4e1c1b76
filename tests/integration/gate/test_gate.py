"""The gate as a real process: who gets through, what arrives at the hub, and what comes back."""

import base64
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from a2a_hub.http.forwarded_body import STREAM_END
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import CALLER_AUTHORIZATION_HEADER, PRINCIPAL_HEADER
from a2a_hub.identity.principal import digest
from a2a_hub.runtime.upstream import REQUEST_HEADERS
from functions.gate.app import build
from functions.gate.config import read
from tests.fakes.http_server import Exchange, HttpServer
from tests.fakes.signatures import GATE_SETTINGS
from tests.integration.gates import BEARER, OTHER_TOKEN, TOKEN, Gate, echo, gate, principal_at

_LIMIT_BYTES = 10 * 1024 * 1024


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"bearer{TOKEN}",
        TOKEN,
        "Bearer token-of-nobody",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN},Bearer {TOKEN}",
        f"Bearer {digest(TOKEN)}",
    ],
)
@pytest.mark.parametrize("path", ["/", "/message:send", "/tools/query"])
def test_a_bad_token_is_a_401_and_the_hub_is_not_called(
    running: Gate, hub: HttpServer, path: str, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    answer = running.ask(path=path, headers=headers)
    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith('Bearer realm="a2a"')
    assert hub.received == []
    told = json.loads(answer.body)
    match path:
        case "/":
            assert (told["jsonrpc"], told["id"]) == ("2.0", None)
        case "/message:send":
            assert (told["error"]["code"], told["error"]["status"]) == (401, "UNAUTHENTICATED")
        case _:
            assert (answer.headers["content-type"], told["status"]) == ("application/problem+json", 401)
    assert TOKEN not in answer.body.decode()


def test_a_good_token_arrives_as_a_signed_principal_and_not_as_a_token(running: Gate, hub: HttpServer) -> None:
    assert running.ask(path="/message:send?A2A-Version=1.0", body=b'{"a":1}').status == 200
    (received,) = hub.received
    assert (received.method, received.path, received.body) == (
        "POST",
        "/message:send?A2A-Version=1.0",
        b'{"a":1}',
    )
    principal = principal_at(received)
    assert principal is not None
    assert principal.subject == f"client:dev-{digest(TOKEN)[:12]}"
    assert TOKEN not in str(received)


def test_the_gates_word_is_as_fresh_as_a_slow_body_is_late(hub: HttpServer) -> None:
    read_at: list[float] = []

    def slow_body(limit_bytes: int) -> bytes:
        read_at.append(time.time())
        return b"{}"

    told = {"HUB_URL": hub.url, "AGENT_CARD_URL": hub.url, **GATE_SETTINGS, "HUB_DEV_TOKEN": TOKEN}
    handle = build(read(told | {"IAM_CREDENTIALS": "none"}))
    headers = {"host": "hub.example", "authorization": f"Bearer {TOKEN}"}
    assert handle(Request(method="POST", path="/", headers=headers, read_body=slow_body)).status == 200
    claims = hub.received[0].headers[PRINCIPAL_HEADER].split(".")[1]
    assert json.loads(base64.urlsafe_b64decode(claims + "=="))["iat"] >= read_at[0]


@pytest.mark.parametrize(("method", "path"), [("GET", "/doctor"), ("HEAD", "/doctor"), ("GET", "/doctor/")])
def test_the_question_how_the_hub_is_arrives_as_the_callers_own(
    running: Gate, hub: HttpServer, method: str, path: str
) -> None:
    running.ask(method, path, None)
    # The gate's doctor asks for the hub's health before it passes the question on.
    (received,) = (each for each in hub.received if each.path != "/health")
    assert received.path == path
    assert principal_at(received) is not None


# What proxies, platforms, and this gate itself say of a caller.
_FORGED = {
    PRINCIPAL_HEADER: "eyJzdWIiOiJhZG1pbiJ9.c2lnbmVk",
    CALLER_AUTHORIZATION_HEADER: "Bearer forged",
    "X-Forwarded-Authorization": "Bearer forged",
    "X-Forwarded-For": "6.6.6.6",
    "X-Forwarded-Host": "forged",
    "X-Forwarded-Port": "forged",
    "X-Forwarded-Prefix": "/forged",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-User": "forged",
    "X-Forwarded-Email": "forged",
    "X-Forwarded-Client-Cert": "forged",
    "X-Original-URL": "/forged",
    "X-Rewrite-URL": "/forged",
    "X-Real-IP": "6.6.6.6",
    "Forwarded": "for=6.6.6.6",
    "Via": "1.1 forged",
    "Cookie": "session=forged",
    "Proxy-Authorization": "Basic forged",
    "X-Serverless-Authorization": "Bearer forged",
    "X-Apigateway-Api-Userinfo": "forged",
    "X-Endpoint-API-UserInfo": "forged",
    "X-Goog-Authenticated-User-Email": "forged",
    "X-Goog-Authenticated-User-Id": "forged",
    "X-Goog-IAP-JWT-Assertion": "forged",
    "X-Google-Internal": "forged",
    "X-Cloud-Trace-Context": "forged/1",
    "X-Appengine-User-Email": "forged",
    "X-HTTP-Method-Override": "DELETE",
    "X-Method-Override": "DELETE",
    "X-Api-Key": "forged",
    "X-Amzn-Oidc-Identity": "forged",
    "Remote-User": "forged",
    "X-User": "forged",
    "X_Hub_Principal": "forged",
    "HTTP_X_HUB_PRINCIPAL": "forged",
    "SCRIPT_NAME": "/forged",
    "PATH_INFO": "/forged",
}


def test_a_forged_header_never_reaches_the_hub(running: Gate, hub: HttpServer) -> None:
    assert running.ask(headers=BEARER | _FORGED).status == 200
    (received,) = hub.received
    of_http = {"host", "content-length", "accept-encoding"}
    assert received.headers.keys() <= {*REQUEST_HEADERS, PRINCIPAL_HEADER, STREAM_END, *of_http}
    assert "forged" not in str(received)
    assert "6.6.6.6" not in str(received)
    assert principal_at(received) is not None


@pytest.mark.parametrize("name", _FORGED)
def test_a_forged_header_alone_lets_nobody_in(running: Gate, hub: HttpServer, name: str) -> None:
    assert running.ask(headers={name: f"Bearer {TOKEN}"}).status == 401
    assert running.ask(headers={name: _FORGED[name]}).status == 401
    assert hub.received == []


def test_what_clients_need_arrives(running: Gate, hub: HttpServer) -> None:
    sent = {
        "accept": "text/event-stream",
        "accept-language": "ja",
        "a2a-version": "1.0",
        "a2a-extensions": "https://example.com/one",
        "content-type": "application/a2a+json",
        "last-event-id": "7",
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "user-agent": "client/1",
    }
    running.ask(headers=BEARER | sent)
    assert {name: hub.received[0].headers.get(name) for name in sent} == sent


def test_of_the_query_only_what_operations_take_arrives(running: Gate, hub: HttpServer) -> None:
    running.ask("GET", f"/tasks?pageSize=5&page_token=a%20b&access_token={TOKEN}&status=x&status=y&zzz=1", None)
    assert hub.received[0].path == "/tasks?pageSize=5&page_token=a+b&status=x&status=y"


def test_of_the_answer_only_what_is_for_the_caller_comes_back(running: Gate, hub: HttpServer) -> None:
    hub.behave = lambda exchange: exchange.answer(
        429,
        b'{"a":1}',
        Content_Type="application/json",
        Retry_After="3",
        Set_Cookie="session=1",
        X_Hub_Principal="internal",
        Server="internal",
        X_Cloud_Trace_Context="internal",
        Access_Control_Allow_Origin="*",
    )
    answer = running.ask()
    assert (answer.status, answer.body) == (429, b'{"a":1}')
    assert (answer.headers["retry-after"], answer.headers["content-type"]) == ("3", "application/json")
    assert "internal" not in str(answer.headers)
    assert not {"set-cookie", "access-control-allow-origin"} & answer.headers.keys()


def test_the_card_needs_no_token_and_carries_none(running: Gate, hub: HttpServer) -> None:
    for headers in ({}, BEARER):
        assert running.ask("GET", "/.well-known/agent-card.json", None, headers).status == 200
    assert [received.path for received in hub.received] == ["/.well-known/agent-card.json"] * 2
    assert not any({"authorization", PRINCIPAL_HEADER} & received.headers.keys() for received in hub.received)


@pytest.mark.parametrize("chunked", [False, True], ids=["with its length", "in chunks"])
def test_a_body_over_the_limit_is_refused_before_the_hub(running: Gate, hub: HttpServer, chunked: bool) -> None:
    half = b"a" * (_LIMIT_BYTES // 2 + 1)
    answer = running.ask(body=iter([half, half]) if chunked else half + half)
    assert answer.status == 413
    assert str(_LIMIT_BYTES) in answer.body.decode()
    assert hub.received == []


def test_a_body_at_the_limit_arrives_whole(running: Gate, hub: HttpServer) -> None:
    assert running.ask(body=b"a" * _LIMIT_BYTES).status == 200
    assert len(hub.received[0].body) == _LIMIT_BYTES


@pytest.mark.parametrize("count", [5, 200])
def test_large_headers_are_refused_before_the_hub(running: Gate, hub: HttpServer, count: int) -> None:
    headers = {f"X-Large-{number}": "a" * 8000 if count == 5 else "a" for number in range(count)}
    assert running.ask(headers=BEARER | headers).status in (400, 431)
    assert hub.received == []


def test_a_hub_that_is_down_is_a_503_that_says_when_to_come_back(tmp_path: Path) -> None:
    with HttpServer(echo, listens=False) as nobody, gate(nobody.url, tmp_path) as alone:
        answer = alone.ask()
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert json.loads(answer.body)["error"]["message"]
    assert str(nobody.port) not in answer.body.decode()


def _no_page(exchange: Exchange) -> None:
    exchange.answer(500, b"<html>", content_type="text/html")


def _overloaded(exchange: Exchange) -> None:
    exchange.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "Too much at once"}}, 503)


def _hangs(exchange: Exchange) -> None:
    """Accepts the question of a person, and says nothing; programs are answered."""
    if b"message/" in exchange.received.body:
        exchange.wait_until_left()
    else:
        _overloaded(exchange)


def _asked(question: str, method: str) -> bytes:
    message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": question}]}
    request = {"jsonrpc": "2.0", "id": "7", "method": f"message/{method}", "params": {"message": message}}
    return json.dumps(request).encode()


@pytest.mark.parametrize(
    ("behave", "listens"),
    [(_no_page, False), (_no_page, True), (_overloaded, True), (_hangs, True)],
    ids=["down", "refused by the platform", "refused by the hub", "hanging"],
)
@pytest.mark.parametrize(
    ("question", "answer"),
    [("How high is it?", "The service cannot be reached"), ("高さは？", "現在、サービスに接続できません")],
)
def test_a_person_reads_in_the_language_of_the_question_that_the_hub_does_not_answer(
    tmp_path: Path, behave: Callable[[Exchange], None], listens: bool, question: str, answer: str
) -> None:
    message = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": question}]}
    with HttpServer(behave, listens=listens) as nobody, gate(nobody.url, tmp_path, HUB_SILENCE_SECONDS="1") as alone:
        sent, streamed = (alone.ask(body=_asked(question, method)) for method in ("send", "stream"))
        # A program gets the error.
        method = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
        assert alone.ask(body=json.dumps(method).encode()).status == 503
    assert (sent.status, streamed.status) == (200, 200)
    assert json.loads(sent.body)["result"]["parts"][0]["text"].startswith(answer)
    assert streamed.headers["content-type"] == "text/event-stream"
    events = [json.loads(event.removeprefix(b"data: "))["result"] for event in streamed.body.split(b"\n\n") if event]
    assert events[-2]["artifact"]["parts"][0]["text"].startswith(answer)
    assert (events[-1]["status"]["state"], events[-1]["final"]) == ("completed", True)


def test_a_person_with_a_large_file_also_reads_that_the_hub_hangs(tmp_path: Path) -> None:
    with HttpServer(_hangs) as hub, gate(hub.url, tmp_path, HUB_SILENCE_SECONDS="1") as alone:
        answer = alone.ask(body=_asked("How high is it?" + 200_000 * " ", "send"))
    assert json.loads(answer.body)["result"]["parts"][0]["text"].startswith("The service cannot be reached")


def test_a_program_waits_longer_than_a_person(tmp_path: Path) -> None:
    asked = threading.Event()

    def late(exchange: Exchange) -> None:
        assert asked.wait(30)
        echo(exchange)

    def program() -> None:
        answers.append(alone.ask(body=b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}').body)

    answers: list[bytes] = []
    with HttpServer(late) as hub, gate(hub.url, tmp_path, HUB_SILENCE_SECONDS="0.2") as alone:
        thread = threading.Thread(target=program)
        thread.start()
        # A person who asks after the program has given up before it.
        assert b"cannot be reached" in alone.ask(body=_asked("How high is it?", "send")).body
        asked.set()
        thread.join()
    assert answers == [b'{"hub": true}']


def test_who_asks_too_often_waits_and_nobody_else_does(hub: HttpServer, tmp_path: Path) -> None:
    with gate(hub.url, tmp_path, RATE_LIMIT_PER_MINUTE="3") as limited:
        assert [limited.ask().status for _ in range(4)] == [200, 200, 200, 429]
        answer = limited.ask()
        assert (answer.status, len(hub.received)) == (429, 3)
        assert 1 <= int(answer.headers["retry-after"]) <= 20
        assert json.loads(answer.body)["error"]["message"]
        assert limited.ask(headers={"Authorization": f"Bearer {OTHER_TOKEN}"}).status == 200
        assert limited.ask("GET", "/health", None, {}).status == 200


@pytest.mark.parametrize("passes", [True, False])
def test_the_callers_token_goes_along_only_where_it_is_said(hub: HttpServer, tmp_path: Path, passes: bool) -> None:
    with gate(hub.url, tmp_path, PASS_CALLER_TOKEN=str(passes).lower()) as one:
        one.ask(headers=BEARER)
    (received,) = hub.received
    assert received.headers.get(CALLER_AUTHORIZATION_HEADER) == (f"Bearer {TOKEN}" if passes else None)
    assert "authorization" not in received.headers
    assert (TOKEN in str(received)) == passes


def test_a_gate_without_any_kind_of_identity_does_not_start(tmp_path: Path) -> None:
    with (
        pytest.raises(Exception, match="no kind of identity is on"),
        gate("http://127.0.0.1:1", tmp_path, HUB_DEV_TOKEN=""),
    ):
        pass


def test_a_gate_without_a_key_does_not_start(tmp_path: Path) -> None:
    with (
        pytest.raises(Exception, match="SIGNING_KEY is required"),
        gate("http://127.0.0.1:1", tmp_path, SIGNING_KEY=""),
    ):
        pass


def test_the_gate_runs_on_threads_too(hub: HttpServer, tmp_path: Path) -> None:
    with gate(hub.url, tmp_path, HTTP_SERVER="flask") as on_threads:
        answer = on_threads.ask(headers=BEARER)
        assert (answer.status, answer.headers["server"]) == (200, "gunicorn")
