"""The console in this process, between a browser that is written here, and a hub and Google's endpoints that are fakes."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from a2a_hub.http.messages import Request, Response, blocking, body_of
from a2a_hub.identity.public_keys import base64url
from a2a_hub.settings.reader import SettingsError
from a2a_hub.telemetry.log import Log
from functions.console.app import build
from functions.console.config import read
from tests.fakes.http_server import Exchange, HttpServer

STATIC = Path(__file__).parents[2] / "functions/console/static"

ADDRESS = "https://console.example.com"
TOKEN, KEY = "ya29.token-of-hanako", "k" * 32
CLAIMS = b'{"email":"<hanako>@example.com","aud":"client","exp":4000000000}'
ID_TOKEN = f"e30.{base64url(CLAIMS)}.x"


class Services(HttpServer):
    """The hub, which knows one token, and Google's token endpoint at `/token`."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.exchanged: Any = {"access_token": TOKEN, "expires_in": 3599, "id_token": ID_TOKEN}
        self.status = 200

    def _answer(self, exchange: Exchange) -> None:
        received = exchange.received
        if received.path == "/token":
            exchange.json(self.exchanged, 200 if "access_token" in self.exchanged else 400)
        elif received.headers.get("authorization") != f"Bearer {TOKEN}":
            exchange.json({"error": {"code": 401}}, 401)
        elif received.headers.get("accept") == "text/event-stream":
            exchange.start_stream()
            exchange.event({"result": {"task": {}}})
        else:
            exchange.json({"path": received.path}, self.status)


class Browser:
    """Keeps the console's cookie. `jar` is its value, "" without one."""

    def __init__(self, settings: dict[str, str]) -> None:
        self.lines: list[bytes] = []
        log = Log(self.lines.append, clock=lambda: 0.0, new_id=lambda: "request", function="console")
        config = read(settings)
        self.host = urlsplit(config.public_url).netloc
        self._handle = build(config, log=log)
        self.jar = ""

    def ask(self, method: str, target: str, body: bytes = b"", *, host: str = "", **headers: str) -> Response:
        """Send a request; underscores in names of headers stand for hyphens."""
        path, _, query = target.partition("?")
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"host": host or self.host, **({"cookie": f"other=1; {self.jar}"} if self.jar else {})}
        answer = blocking(
            self._handle(
                Request(method=method, path=path, headers=named, query=parse_qs(query), read_body=body_of(body))
            )
        )
        if cookie := answer.headers.get("set-cookie"):
            self.jar = "" if "Max-Age=0;" in cookie else cookie.partition(";")[0]
        return answer

    def get(self, target: str, host: str = "", **headers: str) -> Response:
        return self.ask("GET", target, b"", host=host, **headers)

    def csrf(self, path: str = "/") -> str:
        """The token that the page's forms carry."""
        found = re.search(r'(?:name="csrf" (?:content|value))="([^"]+)"', text(self.get(path)))
        assert found
        return found[1]

    def form(self, path: str, **fields: str) -> Response:
        return self.ask("POST", path, urlencode(fields).encode(), content_type="application/x-www-form-urlencoded")

    def google(self, **changes: str) -> Response:
        """Sign in with Google, which answers with a code, or with `changes` of its parameters."""
        self.get("/sign-in")
        asked = parse_qs(urlsplit(self.get("/sign-in/google").headers["location"]).query)
        return self.get("/sign-in/callback?" + urlencode({"code": "4/code", "state": asked["state"][0], **changes}))


def text(answer: Response) -> str:
    assert isinstance(answer.body, bytes)
    return answer.body.decode()


def place(answer: Response) -> str:
    assert answer.status == 303
    return answer.headers["location"]


def settings(services: Services, **changes: str) -> dict[str, str]:
    return {
        "PUBLIC_URL": ADDRESS,
        "HUB_PUBLIC_URL": services.url,
        "SESSION_KEY": KEY,
        "GOOGLE_CLIENT_ID": "1-a.apps.googleusercontent.com",
        "GOOGLE_CLIENT_SECRET": "secret-of-the-client",
        "GOOGLE_TOKEN_DOMAINS": "example.com",
        "GOOGLE_TOKEN_URL": f"{services.url}/token",
        **changes,
    }


@contextmanager
def console(**changes: str) -> Iterator[tuple[Browser, Services]]:
    with Services() as services:
        yield Browser(settings(services, **changes)), services


def test_google_signs_in_by_a_code_that_the_console_exchanges_with_its_verifier() -> None:
    with console() as (browser, services):
        assert place(browser.get("/")) == "/sign-in"
        browser.get("/sign-in")
        asked = urlsplit(place(browser.get("/sign-in/google")))
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        signed_in = browser.get("/sign-in/callback?" + urlencode({"code": "4/code", "state": query["state"]}))
        page = text(browser.get("/"))
    assert asked.netloc == "accounts.google.com"
    assert (query["hd"], query["scope"], query["code_challenge_method"]) == ("example.com", "openid email", "S256")
    exchanged = {name: values[0] for name, values in parse_qs(services.received[0].body.decode()).items()}
    digest = hashlib.sha256(exchanged["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == query["code_challenge"]
    assert (exchanged["code"], exchanged["redirect_uri"]) == ("4/code", f"{ADDRESS}/sign-in/callback")
    assert place(signed_in) == "/"
    attributes = signed_in.headers["set-cookie"].split("; ")
    assert attributes[0].startswith("__Host-console=")
    assert {"Path=/", "HttpOnly", "SameSite=Lax", "Secure"} <= set(attributes)
    assert TOKEN not in signed_in.headers["set-cookie"] + page
    assert "&lt;hanako&gt;@example.com" in page


@pytest.mark.parametrize(
    ("callback", "exchanged", "problem"),
    [
        ({"state": "another"}, None, "expired"),
        ({"code": ""}, None, "refused"),
        ({}, {"error": "invalid_grant"}, "refused"),
        ({}, {"access_token": "of-a-stranger", "expires_in": 60}, "refused"),
        ({}, {"access_token": "not a token\r\n", "expires_in": 60}, "refused"),
        ({}, {"access_token": TOKEN}, "refused"),
    ],
    ids=["state", "cancelled", "code", "not admitted by the hub", "no token", "no end"],
)
def test_who_is_refused_has_no_session(callback: dict[str, str], exchanged: Any, problem: str) -> None:
    with console() as (browser, services):
        services.exchanged = exchanged or services.exchanged
        assert place(browser.google(**callback)) == f"/sign-in?problem={problem}"
        assert place(browser.get("/")) == "/sign-in"
        assert f"problem.{problem}" in text(browser.get(f"/sign-in?problem={problem}"))


def test_an_outage_of_the_hub_is_no_refusal_and_a_foreign_problem_is_not_shown() -> None:
    with console() as (browser, services):
        services.status = 503
        assert place(browser.google()) == "/sign-in?problem=unavailable"
        assert "script" not in text(browser.get("/sign-in?problem=%3Cscript%3E")).split("<body>")[1]


def test_calls_reach_the_hub_as_the_person_and_only_from_a_page_of_the_session() -> None:
    with console() as (browser, services):
        assert browser.get("/hub/routes").status == 401
        browser.google()
        csrf, before = browser.csrf(), len(services.received)
        assert browser.ask("POST", "/hub", b"{}").status == 401
        assert browser.ask("POST", "/hub", b"{}", x_csrf_token="guess").status == 401
        assert len(services.received) == before
        sent = {"x_csrf_token": csrf, "content_type": "application/json", "a2a_version": "1.0", "x_hub_principal": "me"}
        assert browser.ask("POST", "/hub", b"{}", **sent).status == 200
        assert json.loads(text(browser.get("/hub/routes", x_csrf_token=csrf))) == {"path": "/routes"}
        assert browser.get("/hub/tasks:run", x_csrf_token=csrf).status == 404
        streamed = browser.ask("POST", "/hub", b"{}", accept="text/event-stream", **sent)
        assert b"".join(streamed.body).startswith(b"data: ")  # type: ignore[arg-type]
    received = services.received[before]
    assert (received.path, received.headers["authorization"]) == ("/", f"Bearer {TOKEN}")
    assert received.headers["a2a-version"] == "1.0"
    assert not {"cookie", "x-csrf-token", "x-hub-principal"} & received.headers.keys()
    assert TOKEN.encode() not in b"".join(browser.lines)


def test_the_script_has_at_most_60_kilobytes() -> None:
    assert sum(file.stat().st_size for file in STATIC.glob("*.js")) <= 60_000


def test_everything_leaves_with_the_headers_that_keep_it_where_it_belongs() -> None:
    with console() as (browser, _):
        answers = [browser.get(path) for path in ("/", "/sign-in", "/static/app.js", "/hub/routes", "/nothing")]
        tag = answers[2].headers["etag"]
        assert browser.get("/static/app.js", if_none_match=tag).status == 304
        assert browser.get("/static/../config.py").status == 401
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
        assert not re.search(r"unsafe|https?:|\*", policy)
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["permissions-policy"]
    kept = [answer.headers["cache-control"] for answer in answers]
    assert kept == ["no-store", "no-store", "no-cache", "no-store", "no-store"]


def test_a_session_ends_by_the_form_of_its_page_alone() -> None:
    with console() as (browser, _):
        browser.google()
        csrf = browser.csrf()
        assert place(browser.form("/sign-out", csrf="guess")) == "/"
        assert browser.get("/").status == 200
        assert place(browser.form("/sign-out", csrf=csrf)) == "/sign-in"
        assert place(browser.get("/")) == "/sign-in"


def test_a_cookie_of_another_key_is_no_session_and_one_of_the_key_before_is() -> None:
    with Services() as services:
        before, after = (Browser(settings(services, SESSION_KEY=key)) for key in (KEY, f"{'n' * 32},{KEY}"))
        other = Browser(settings(services, SESSION_KEY="o" * 32))
        before.google()
        after.jar = other.jar = before.jar
        assert (after.get("/").status, other.get("/").status) == (200, 303)


def test_the_link_of_a_local_run_signs_in_once() -> None:
    with console(**LOCAL) as (browser, _):
        assert place(browser.get("/sign-in/link?code=guess")) == "/sign-in?problem=used"
        signed_in = browser.get("/sign-in/link?code=the-code")
        assert (place(signed_in), browser.get("/").status) == ("/", 200)
        assert signed_in.headers["set-cookie"].startswith("console-8999=")
        browser.jar = ""
        assert place(browser.get("/sign-in/link?code=the-code")) == "/sign-in?problem=used"
        assert place(browser.get("/", host="rebound.example.com")) == "http://127.0.0.1:8999"


@pytest.mark.parametrize(("is_open", "token", "leads_to"), [
    ("true", TOKEN, "/"),
    ("true", "another", "/sign-in?problem=refused"),
    ("false", TOKEN, "/sign-in?problem=expired"),
])  # fmt: skip
def test_a_token_of_the_hub_signs_in_where_that_is_open(is_open: str, token: str, leads_to: str) -> None:
    with console(TOKEN_SIGN_IN=is_open) as (browser, _):
        csrf = browser.csrf("/sign-in")
        assert place(browser.form("/sign-in/token", token=TOKEN, csrf="guess")) == "/sign-in?problem=expired"
        assert place(browser.form("/sign-in/token", token=token, csrf=csrf)) == leads_to


LOCAL = {"PUBLIC_URL": "http://127.0.0.1:8999", "SIGN_IN_CODE": "the-code", "HUB_DEV_TOKEN": f"{TOKEN},another"}


def _checked(browser: Browser, url: object) -> tuple[int, dict[str, Any]]:
    answer = browser.ask("POST", "/card", json.dumps({"url": url}).encode(), x_csrf_token=browser.csrf())
    return answer.status, json.loads(text(answer))


def test_a_card_is_fetched_and_checked_without_the_persons_token() -> None:
    def agent(exchange: Exchange) -> None:
        exchange.answer(200, b'{"name": "Agent"}', content_type="application/json")

    with console(**LOCAL) as (browser, _), HttpServer(agent) as published:
        browser.get("/sign-in/link?code=the-code")
        status, told = _checked(browser, published.url)
        assert (status, told["card"]) == (200, '{"name": "Agent"}')
        assert {"rule": "required", "severity": "error"}.items() <= told["findings"][0].items()
        assert published.received[0].path == "/.well-known/agent-card.json"
        assert "authorization" not in published.received[0].headers
        assert _checked(browser, "http://127.0.0.1:9")[0] == 400


@pytest.mark.parametrize(
    "url", ["http://agent.example.com", "https://127.0.0.1/card.json", "https://metadata.google.internal", "x", 7]
)
def test_a_deployed_console_fetches_no_card_inside_its_network(url: object) -> None:
    with console() as (browser, _):
        browser.google()
        status, told = _checked(browser, url)
        assert (status, "url" in str(told)) == (400, True)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"SESSION_KEY": ""}, "SESSION_KEY"),
        ({"SESSION_KEY": "short"}, "SESSION_KEY"),
        ({"GOOGLE_CLIENT_SECRET": ""}, "GOOGLE_CLIENT_ID"),
        ({"GOOGLE_CLIENT_ID": "", "GOOGLE_CLIENT_SECRET": ""}, "GOOGLE_CLIENT_ID"),
        ({"PUBLIC_URL": "http://console.example.com"}, "PUBLIC_URL"),
        ({"PUBLIC_URL": f"{ADDRESS}/path"}, "PUBLIC_URL"),
        ({"SIGN_IN_CODE": "code", "HUB_DEV_TOKEN": "token"}, "SIGN_IN_CODE"),
        ({"GOOGLE_TOKEN_URL": "http://example.com/token"}, "GOOGLE_TOKEN_URL"),
    ],
)
def test_a_console_that_nobody_may_trust_does_not_start(changes: dict[str, str], named: str) -> None:
    with Services() as services, pytest.raises(SettingsError, match=named):
        read(settings(services, **changes))
