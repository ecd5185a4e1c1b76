"""Wires the console: sign-in, pages, calls to the hub with the person's own token, and checks of agent cards."""

import json
import time
from dataclasses import asdict
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import UNAUTHENTICATED, A2AError, invalid_field
from a2a_hub.card_rules.addresses import parsed
from a2a_hub.card_rules.check import CardUnreadable, check_text, published_card
from a2a_hub.http.admission import AdmissionControl
from a2a_hub.http.client import HttpClient
from a2a_hub.http.dispatch import GET_ONLY, POST, Dispatcher, Identified, Public
from a2a_hub.http.messages import JSON, Handler, Request, Response
from a2a_hub.runtime.function import health, serve, stdout_log
from a2a_hub.runtime.upstream import REQUEST_HEADERS, Upstream, allowed_headers
from a2a_hub.tasks.webhook_address import WebhookAddresses
from a2a_hub.telemetry.log import Log, Record
from functions.console.config import Config
from functions.console.pages import console_page, files, guarded, redirect
from functions.console.sessions import Session, Sessions, is_from_page
from functions.console.sign_in import SignIn

_CSRF_HEADER = "x-csrf-token"
_HUB = "/hub"
_MAX_BYTES = 4096


def build(config: Config, *, log: Log | None = None, admission: AdmissionControl | None = None) -> Handler:
    """Return the console's handler."""
    log = log or stdout_log("console", project=config.google_cloud_project)
    http = HttpClient()
    hub = Upstream(config.hub_url, http=http, tokens=None, capacity=admission.capacity if admission else None)
    sessions = Sessions(config.session_keys, public_url=config.public_url, now=time.time)
    sign_in = SignIn(config, hub=hub, http=http, sessions=sessions)
    browser = _Browser(config, hub=hub, sessions=sessions)
    dispatcher = Dispatcher(
        (
            Public("/", browser.console),
            Public("/health", health),
            *files(),
            Public("/sign-in", sign_in.page),
            Public("/sign-in/link", sign_in.link, GET_ONLY),
            Public("/sign-in/token", sign_in.token, POST),
            Public("/sign-in/google", sign_in.google, GET_ONLY),
            Public("/sign-in/callback", sign_in.callback, GET_ONLY),
            Public("/sign-out", sign_in.out, POST),
            Identified(_HUB, browser.call, POST),
            Identified(f"{_HUB}/tools/query", browser.call, POST),
            Identified(f"{_HUB}/routes", browser.call, GET_ONLY),
            Identified(f"{_HUB}/doctor", browser.call, GET_ONLY),
            Identified(f"{_HUB}/activity", browser.call, GET_ONLY),
            Identified("/card", _Cards(is_local=config.is_local).check, POST),
        ),
        identify=browser.identify,
    )
    handle = serve(dispatcher.handle, log=log)
    host = urlsplit(config.public_url).netloc

    def answer(request: Request) -> Response:
        # A foreign Host is DNS rebinding, or another name of this machine.
        response = handle(request) if request.headers.get("host") == host else redirect(config.public_url)
        headers = guarded(response.headers, is_file=request.path.startswith("/static/"))
        return structs.replace(response, headers=headers)

    return answer


class _Browser(Struct, frozen=True):
    """The endpoints for the browser of a signed-in person."""

    config: Config
    hub: Upstream
    sessions: Sessions

    def console(self, request: Request) -> Response:
        """Return the console, or send the browser to the sign-in."""
        session = self.sessions.of(request)
        if session is None or not session.token:
            return redirect("/sign-in")
        return console_page(csrf=session.csrf, hub=self.config.hub_url, name=session.name)

    def identify(self, request: Request, _: Record) -> Session:
        """Return the session of a call. Raises UNAUTHENTICATED without one, and without its CSRF token."""
        session = self.sessions.of(request)
        if session is None or not session.token:
            raise A2AError(UNAUTHENTICATED, "The session has ended; sign in again")
        if not is_from_page(session, request.headers.get(_CSRF_HEADER)):
            raise A2AError(UNAUTHENTICATED, "The call comes from no page of this session; sign in again")
        return session

    def call(self, request: Request, session: Session, _: Record) -> Response:
        """Forward the call to the hub with the person's token."""
        headers = allowed_headers(request.headers, REQUEST_HEADERS) | {"authorization": f"Bearer {session.token}"}
        body = read_body(request, self.config.limits.body_bytes) if request.method == "POST" else b""
        path = request.path.removeprefix(_HUB) or "/"
        return self.hub.send(request.method, path, headers=headers, body=body, caller=session.token)


class _CardAddress(Struct):
    url: str


_CARD_ADDRESS = msgspec.json.Decoder(_CardAddress)


class _Cards:
    """The endpoint that checks cards: of public addresses only, unless the console is local."""

    def __init__(self, *, is_local: bool) -> None:
        addresses = WebhookAddresses(())
        self._addresses = None if is_local else addresses
        self._http = HttpClient() if is_local else HttpClient(addresses=addresses.resolve)

    def check(self, request: Request, _session: Session, _record: Record) -> Response:
        """Return the card at the body's `url` as text, with the findings on it. Raises INVALID_PARAMS."""
        try:
            url = _CARD_ADDRESS.decode(read_body(request, _MAX_BYTES)).url
        except msgspec.DecodeError:
            raise invalid_field("url", "must be a string") from None
        parts = parsed(url)
        if parts is None or parts.scheme not in ("http", "https"):
            raise invalid_field("url", "must be a URL, such as https://agent.example.com")
        if self._addresses is not None and (refusal := self._addresses.refusal(url)):
            raise invalid_field("url", refusal)
        try:
            card = published_card(url, http=self._http)
        except CardUnreadable as problem:
            raise invalid_field("url", f"leads to no card: {problem}") from None
        checked = {"card": card, "findings": [asdict(each) for each in check_text(card)]}
        return Response(headers={"content-type": JSON}, body=json.dumps(checked).encode())
