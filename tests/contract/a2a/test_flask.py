"""The same agent behind Flask and the Functions Framework: what only a web framework can get wrong."""

import gzip
import json
from pathlib import Path
from typing import Any

import flask
import pytest
from functions_framework import create_app
from werkzeug.test import Client, EnvironBuilder, run_wsgi_app

from a2a_hub.a2a.bindings import sse
from a2a_hub.http.flask_adapter import entry_point
from a2a_hub.http.messages import Request, Response
from tests.contract.a2a.served import WAYS, Way, served
from tests.contract.a2a.wire_examples import Example, examples

EACH_WAY = pytest.mark.parametrize("way", WAYS, ids=str)
_SOURCE = """
from a2a_hub.http.flask_adapter import entry_point
from tests.contract.a2a.served import served

agent = entry_point(served().handle)
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A client of the agent as the Functions Framework serves it."""
    source: Path = tmp_path_factory.mktemp("function") / "main.py"
    source.write_text(_SOURCE)
    app: flask.Flask = create_app("agent", str(source), "http")  # type: ignore[no-untyped-call]
    return app.test_client()


def _post(client: Client, path: str, body: Any, **headers: str) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return client.post(path, data=raw, headers={"content-type": "application/json"} | headers)


@EACH_WAY
def test_a_message_is_answered(client: Client, way: Way) -> None:
    response = _post(client, way.path, way.body(way.params("日本語")))
    assert response.status_code == 200
    if way.streaming:
        assert response.headers["content-type"] == "text/event-stream"
        assert response.headers["x-accel-buffering"] == "no"
        assert "content-length" not in response.headers
        assert len(list(sse.read([response.data], limit_bytes=100_000))) >= 4
    else:
        assert response.headers["content-type"] == "application/json"
        assert "日本語" in response.text


@EACH_WAY
def test_whoever_compresses_a_message_is_told_not_to(client: Client, way: Way) -> None:
    compressed = gzip.compress(json.dumps(way.body(way.params())).encode())
    response = _post(client, way.path, compressed, **{"content-encoding": "gzip"})
    assert (response.status_code, response.headers["accept-encoding"]) == (415, "identity")
    assert "without Content-Encoding" in response.text


@pytest.mark.parametrize("example", examples("request"), ids=str)
def test_every_request_of_the_wire_examples_is_answered_in_its_form(client: Client, example: Example) -> None:
    path = {"jsonrpc": "/", "rest": "/v1/message:send" if example.version == "0.3" else "/message:send"}
    response = _post(client, path[example.binding], example.raw)
    assert response.status_code in (200, 400, 404)
    assert "Traceback" not in response.text


@EACH_WAY
@pytest.mark.parametrize(
    "body",
    [b"{", b"\xff\xfe", b"\x00", b"[" * 100_000, b"null", b"[]", b"{}"],
    ids=lambda body: repr(body[:8]),
)
def test_a_malformed_body_is_an_error_of_the_binding(client: Client, way: Way, body: bytes) -> None:
    response = _post(client, way.path, body)
    assert response.status_code == (400 if way.rest else 200)
    assert "error" in json.loads(response.data.removeprefix(b"data: "))


@EACH_WAY
def test_a_body_over_the_limit_is_413_whether_its_length_is_told_or_not(client: Client, way: Way) -> None:
    body = json.dumps(way.body(way.params())).encode().ljust(10 * 1024 * 1024 + 1)
    told = _post(client, way.path, body)
    assert told.status_code == 413
    assert "larger than 10485760 bytes" in told.text
    builder = EnvironBuilder(way.path, method="POST", data=body, content_type="application/json")
    environ = builder.get_environ()
    del environ["CONTENT_LENGTH"]
    environ |= {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    _, status, _ = run_wsgi_app(client.application, environ, buffered=True)
    assert status.startswith("413")


@pytest.mark.parametrize(("megabytes", "left"), [(20, 0), (200, 200)], ids=["read on", "not waited for"])
def test_a_body_over_the_limit_is_read_to_its_end_and_never_kept_in_memory(
    client: Client, megabytes: int, left: int
) -> None:
    class Long:
        """Never keeps more than what was asked for."""

        left = megabytes << 20
        largest_read = 0

        def read(self, size: int = -1) -> bytes:
            taken = min(self.left, size if size >= 0 else self.left)
            self.left -= taken
            self.largest_read = max(self.largest_read, taken)
            return b" " * taken

    source = Long()
    environ = EnvironBuilder("/", method="POST", content_type="application/json").get_environ()
    environ |= {"wsgi.input": source, "CONTENT_LENGTH": str(source.left)}
    answer, status, _ = run_wsgi_app(client.application, environ)
    assert status.startswith("413")
    assert b"larger than" in b"".join(answer)
    assert source.left == left << 20
    assert source.largest_read < 1024 * 1024


@pytest.mark.parametrize("length", ["-1", "abc", "", "1e3", "9" * 30])
def test_a_nonsensical_content_length_is_no_500(client: Client, length: str) -> None:
    response = client.post(
        "/",
        data=b"{}",
        headers={"content-type": "application/json"},
        environ_overrides={"CONTENT_LENGTH": length},
    )
    assert response.status_code in (200, 400, 411, 413)


def test_a_body_shorter_than_its_length_is_a_parse_error(client: Client) -> None:
    response = client.post(
        "/",
        data=b'{"jsonrpc":',
        headers={"content-type": "application/json"},
        environ_overrides={"CONTENT_LENGTH": "1000"},
    )
    assert response.status_code == 200
    assert response.get_json()["error"]["code"] == -32700


@pytest.mark.parametrize("path", ["/robots.txt", "/favicon.ico", "/a//b"])
def test_no_path_is_answered_by_the_framework(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/message%3Asend", 200),
        ("/message:send/", 200),
        ("/acme/message:send", 400),
        ("/%E6%97%A5%E6%9C%AC/message:send", 400),
        ("/acme%2Fmessage:send", 400),
        ("/ac:me/message:send", 404),
        ("/message:send?A2A-Version=1.0", 200),
        ("/message:send?a2a-version=1.0", 200),
        ("/message:send?A2A-Version=0.3", 400),
        ("/v1/message:send?A2A-Version=1.0", 200),
        ("/message:send%00", 404),
        ("/%FF/x", 404),
        ("/%FF%FE", 404),
        ("/a/b/message:send", 404),
        ("/nothing", 404),
    ],
)
def test_a_path_is_found_as_it_is_decoded(client: Client, path: str, status: int) -> None:
    way = next(way for way in WAYS if way.rest and way.version == "1.0" and not way.streaming)
    response = _post(client, path, way.body(way.params()))
    assert response.status_code == status
    assert "Traceback" not in response.text
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "path", ["/tasks/a", "/tasks/a%2Fb", "/tasks/%00", "/tasks?status=nonsense", "/tasks/a:cancel"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_the_paths_of_tasks_are_errors_in_the_bindings_form(client: Client, method: str, path: str) -> None:
    response = client.open(path, method=method)
    assert response.status_code in (400, 404, 405)
    assert response.headers["content-type"] == "application/json"
    if response.status_code == 405:
        assert response.headers["allow"]
    if method != "HEAD":
        assert response.get_json()["error"]["code"] == response.status_code


@pytest.mark.parametrize("path", ["/", "/health", "/.well-known/agent-card.json", "/.well-known/agent.json"])
def test_head_is_get_without_its_body(client: Client, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert got.status_code == head.status_code == 200
    assert head.data == b""
    assert {**head.headers} == {**got.headers}


def test_an_unchanged_card_is_304_without_a_body(client: Client) -> None:
    etag = client.get("/.well-known/agent-card.json").headers["etag"]
    response = client.get("/.well-known/agent-card.json", headers={"if-none-match": etag})
    assert response.status_code == 304
    assert response.data == b""
    assert "content-type" not in response.headers


def test_a_huge_header_is_no_error(client: Client) -> None:
    way = WAYS[0]
    response = _post(client, way.path, way.body(way.params()), **{"a2a-extensions": "https://x.example.com," * 3_000})
    assert response.status_code == 200


def test_header_names_are_read_in_any_case(client: Client) -> None:
    way = WAYS[0]
    response = _post(client, way.path, way.body(way.params()), **{"A2a-VERSION": "9.9"})
    assert response.get_json()["error"]["code"] == -32009


def test_what_breaks_outside_the_protocol_shows_nothing_of_itself() -> None:
    def handle(request: Request) -> Response:
        raise RuntimeError("the secret is 12345")

    app = flask.Flask("broken")
    app.add_url_rule("/", view_func=lambda: entry_point(handle)(flask.request))
    response = app.test_client().get("/")
    assert response.status_code == 500
    assert response.get_json() == {"error": {"code": 500, "status": "INTERNAL", "message": "Internal error"}}


def test_a_status_that_nobody_has_registered_is_passed_on() -> None:
    app = flask.Flask("passing")
    answer = Response(status=520, body=b"what a proxy made up")
    app.add_url_rule("/", view_func=lambda: entry_point(lambda _: answer)(flask.request))
    response = app.test_client().get("/")
    assert (response.status, response.data) == ("520 Unknown", b"what a proxy made up")


def test_a_client_that_leaves_closes_the_stream() -> None:
    agent = served()
    app = flask.Flask("leaving")
    app.add_url_rule("/", view_func=lambda: entry_point(agent.handle)(flask.request), methods=["POST"])
    way = next(way for way in WAYS if way.streaming and not way.rest)
    response = app.test_client().post("/", json=way.body(way.params()), buffered=False)
    assert b"data: " in next(response.iter_encoded())
    assert agent.log_lines == []
    response.close()
    (line,) = agent.log_lines
    assert json.loads(line)["httpRequest"]["status"] == 200
