"""Addresses and tokens: of the hub that a command calls, of a card, and as Gemini Enterprise could reach them."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from a2a_hub.card_rules.addresses import parsed
from a2a_hub.card_rules.check import CardUnreadable, published_card
from a2a_hub.http.client import HttpClient
from hubctl.main import CommandError
from hubctl.project_files import read_text

NO_CREDENTIALS = (
    "there are no valid credentials: run `gcloud auth application-default login`, or set "
    'CLOUDSDK_AUTH_ACCESS_TOKEN="$(gcloud auth print-access-token)"'
)
LOCAL_PORT = "8080"


def hub_address(given: str | None, environment: Mapping[str, str], *, variables: Sequence[str]) -> str:
    """Return the address of the hub: the given one, else that of one of the variables, else that of `make run` on this machine.

    Raises CommandError.
    """
    sources = {"--url": given} | {name: environment.get(name) for name in variables}
    for name, address in sources.items():
        if address:
            return http_address(address, name=name)
    return http_address(f"http://127.0.0.1:{environment.get('HUB_PORT') or LOCAL_PORT}", name="HUB_PORT")


def http_address(address: str, *, name: str) -> str:
    """Return the address if it is an HTTP URL. `name` is the option or variable that holds it. Raises CommandError."""
    parts = parsed(address)
    if parts is None or parts.scheme not in ("http", "https"):
        raise CommandError(f"{name} is {address!r}, which is not an address: write it like https://hub.example.com")
    return address


def hub_token(given: str | None, environment: Mapping[str, str]) -> str | None:
    """Return the given token, else the first of HUB_DEV_TOKEN; None without either. Raises CommandError."""
    token = given or environment.get("HUB_DEV_TOKEN", "").split(",")[0].strip()
    if not (token.isascii() and token.isprintable()):
        raise CommandError("the token holds characters that no header can carry: is it whole, and a token?")
    return token or None


def read_card(place: str, *, http: HttpClient) -> str:
    """Return the card's text at a path or URL. A URL that names no .json file is an agent, and its well-known card is read.

    Requests the strict 0.3 card, which is the one to register. Raises CommandError.
    """
    if "://" not in place:
        return read_text(Path(place))
    return fetched_card(place, http=http)


def fetched_card(url: str, *, http: HttpClient) -> str:
    """Return the card that an agent publishes. Raises CommandError."""
    http_address(url, name="the card's place")
    try:
        return published_card(url, http=http)
    except CardUnreadable as problem:
        raise CommandError(str(problem)) from None
