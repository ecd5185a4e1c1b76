"""The card that an agent publishes, as text: the strict 0.3 card, which is the one to register."""

from urllib.parse import urlsplit

from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON

_WELL_KNOWN = "/.well-known/agent-card.json"
_SECONDS = 15.0
_MOST_BYTES = 4 << 20


class CardUnreadable(Exception):
    """The reason why there is no card, as a sentence with its address."""


def published_card(url: str, *, http: HttpClient) -> str:
    """Return the card at a URL; one that names no .json file is an agent with a well-known card. Raises CardUnreadable."""
    address = url if urlsplit(url).path.endswith(".json") else url.rstrip("/") + _WELL_KNOWN
    headers = {"accept": JSON, "a2a-version": "0.3"}
    try:
        answer, body = fetch(http, "GET", address, headers=headers, seconds=_SECONDS, max_bytes=_MOST_BYTES)
    except HttpFailure as failure:
        raise CardUnreadable(f"{address} cannot be read: {failure.detail}") from None
    if answer.status != 200:
        raise CardUnreadable(f"{address} answers HTTP {answer.status}: a card must be readable without a token")
    return body.decode("utf-8", errors="replace")
