"""Addresses and tokens: of the hub that a command calls, of a card, and as Gemini Enterprise could reach them."""

import ipaddress
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.http.connections import Headers
from a2a_hub.http.messages import JSON
from hubctl.main import CommandError
from hubctl.project_files import read_text

_LOCAL_PORT = "8080"
# RFC 2606, 6761, 6762, 8375, and ICANN's name for private use.
_NOT_PUBLIC = ("local", "internal", "invalid", "test", "example", "home.arpa", "lan", "intranet")
_NUMERIC = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*", re.IGNORECASE)
_WELL_KNOWN = "/.well-known/agent-card.json"


def local_hub(environment: Mapping[str, str]) -> str:
    """Return the address of the run that `make run` starts in the same environment: HUB_PORT, or 8080."""
    return f"http://127.0.0.1:{environment.get('HUB_PORT') or _LOCAL_PORT}"


def hub_address(given: str | None, environment: Mapping[str, str], *, variables: Sequence[str]) -> str:
    """Return the address of the hub: the given one, else that of one of the variables, else this machine. Raises CommandError."""
    sources = {"--url": given} | {name: environment.get(name) for name in variables}
    for name, address in sources.items():
        if address:
            return http_address(address, name=name)
    return http_address(local_hub(environment), name="HUB_PORT")


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


def parsed(url: str) -> SplitResult | None:
    """Return the parts of an absolute URL with a host; None for anything else."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts if parts.scheme and parts.hostname and not re.search(r"[\s\x00-\x1f]", url) else None


def why_not_public(host: str) -> str | None:
    """Return the reason why a host cannot be reached from the internet, None without one. Resolves no names."""
    name = host.rstrip(".").lower()
    if (address := _ip_address(name)) is not None:
        if address.is_loopback:
            return "is this machine itself"
        return None if address.is_global else "is a private address"
    if name == "localhost" or name.endswith(".localhost"):
        return "is this machine itself"
    if "." not in name:
        return "is a name without a domain"
    for suffix in _NOT_PUBLIC:
        if name == suffix or name.endswith(f".{suffix}"):
            return f"ends in .{suffix}, which exists in private networks only"
    return None


def _ip_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if _NUMERIC.fullmatch(host):
        try:
            # Takes the short and hexadecimal forms that URL parsers take, such as 127.1.
            return ipaddress.IPv4Address(socket.inet_aton(host))
        except OSError:
            return None
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


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
    address = url if urlsplit(url).path.endswith(".json") else url.rstrip("/") + _WELL_KNOWN
    headers = {"accept": JSON, "a2a-version": "0.3"}
    try:
        answer = exchange(http, "GET", address, headers=headers, seconds=30.0)
    except HttpFailure as failure:
        raise CommandError(f"{address} cannot be read: {failure.detail}") from None
    if answer.status != 200:
        raise CommandError(f"{address} answers HTTP {answer.status}: a card must be readable without a token")
    return answer.body.decode("utf-8", errors="replace")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Headers
    body: bytes


def exchange(
    http: HttpClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    body: bytes | None = None,
    seconds: float = 60.0,
    max_bytes: int = 16 << 20,
) -> Answer:
    """Send a request and return its whole answer, received within `seconds`. Raises HttpFailure."""
    budget = Budget(deadline=http.clock() + seconds, connect_seconds=10, idle_seconds=seconds, max_bytes=max_bytes)
    answer = http.request(method, url, headers=headers, body=body, budget=budget)
    return Answer(status=answer.status, headers=answer.headers, body=answer.read())
