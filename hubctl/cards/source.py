"""Reads a card from a file, or from the agent that publishes it."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from hubctl.connection import http_address
from hubctl.main import CommandError
from hubctl.project_files import read_text

_WELL_KNOWN = "/.well-known/agent-card.json"
_SECONDS = 30.0
_MOST_BYTES = 4 << 20


def read_card(place: str, *, http: HttpClient) -> str:
    """The card's text at a path or URL. A URL that names no .json file is an agent, and its well-known card is read.

    The strict 0.3 card is asked for, since that is what is registered. Raises CommandError.
    """
    if "://" not in place:
        return read_text(Path(place))
    return fetched_card(place, http=http)


def fetched_card(url: str, *, http: HttpClient) -> str:
    """The card that an agent publishes. Raises CommandError."""
    http_address(url, name="the card's place")
    address = url if urlsplit(url).path.endswith(".json") else url.rstrip("/") + _WELL_KNOWN
    budget = Budget(
        deadline=http.clock() + _SECONDS, connect_seconds=10, idle_seconds=_SECONDS, max_bytes=_MOST_BYTES
    )
    headers = {"accept": "application/json", "a2a-version": "0.3"}
    try:
        answer = http.request("GET", address, headers=headers, body=None, budget=budget)
        body = answer.read()
    except HttpFailure as failure:
        raise CommandError(f"{address} cannot be read: {failure.detail}") from None
    if answer.status != 200:
        raise CommandError(f"{address} answers HTTP {answer.status}: a card must be readable without a token")
    return body.decode("utf-8", errors="replace")
