"""An agent's card, fetched by its URL, and what the rules for Gemini Enterprise say of it."""

import json
from dataclasses import asdict

import msgspec

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import invalid_field
from a2a_hub.card_rules.addresses import parsed
from a2a_hub.card_rules.check import CardUnreadable, check_text, published_card
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import JSON, Request, Response
from a2a_hub.tasks.webhook_address import WebhookAddresses
from a2a_hub.telemetry.log import Record
from functions.console.sessions import Session

_MOST_BYTES = 4096


class _Question(msgspec.Struct):
    url: str


_QUESTION = msgspec.json.Decoder(_Question)


class Cards:
    """The endpoint that checks cards: of public addresses only, unless the console is local."""

    def __init__(self, *, is_local: bool) -> None:
        addresses = WebhookAddresses(())
        self._addresses = None if is_local else addresses
        self._http = HttpClient() if is_local else HttpClient(addresses=addresses.resolve)

    def check(self, request: Request, _session: Session, _record: Record) -> Response:
        """Return the card at the body's `url` as text, with the findings on it. Raises INVALID_PARAMS."""
        try:
            url = _QUESTION.decode(read_body(request, _MOST_BYTES)).url
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
