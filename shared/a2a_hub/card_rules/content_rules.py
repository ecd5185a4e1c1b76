"""Rules on the content of a card: address, modes, capabilities, size, authentication (docs/gemini-enterprise.md)."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from urllib.parse import SplitResult, parse_qs

from a2a_hub.card_rules.addresses import parsed
from a2a_hub.card_rules.card import Card, Flaw, flaw
from a2a_hub.http.public_addresses import is_public_host

REGISTRY_MAX_BYTES = 10_000
# As many schemes as a fix names.
_MAX_NAMES = 10
_MIME_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9*][a-z0-9!#$&^_.+*-]*(\s*;.*)?", re.IGNORECASE)
# "text" is meant as text, too; that it is no MIME type is another rule's flaw.
_TEXT_MODES = ("text/plain", "text/*", "*/*", "text")
_LONG_FORM = "https://www.googleapis.com/auth/userinfo."
_NEEDED_SCOPES = ("openid", "email")
_GOOGLE_HOST = "accounts.google.com"


def url_scheme(card: Card) -> Iterator[Flaw]:
    """Check that the agent's address is an https URL."""
    url = card.text("url")
    if url is None:
        return
    parts = parsed(url)
    if parts is None:
        yield flaw("relative_url", "$.url", url=url)
    elif parts.scheme != "https":
        yield flaw("url_https", "$.url", scheme=parts.scheme)


def url_public(card: Card) -> Iterator[Flaw]:
    """Check that the agent's address can be reached from the internet."""
    parts = parsed(card.text("url") or "")
    if parts is not None and not is_public_host(parts.hostname or ""):
        yield flaw("url_public", "$.url", host=parts.hostname)


def transport(card: Card) -> Iterator[Flaw]:
    """Check that JSON-RPC is offered at the main address."""
    preferred = card.text("preferredTransport")
    if preferred is not None and preferred != "JSONRPC":
        yield flaw("transport", "$.preferredTransport", preferred=preferred)


def mime_types(card: Card) -> Iterator[Flaw]:
    """Check that modes are MIME types."""
    for path, mode in card.modes("defaultInputModes", "defaultOutputModes"):
        if not _MIME_TYPE.fullmatch(mode):
            yield flaw("mime_type", path, mode=mode)


def text_modes(card: Card) -> Iterator[Flaw]:
    """Check that text goes in and comes out: people type, and only text is shown."""
    for name, reason in (
        ("defaultInputModes", "what people type is text"),
        ("defaultOutputModes", "only text is shown; an answer of data parts ends as a failure"),
    ):
        modes = card.value.get(name)
        if isinstance(modes, list) and not any(_is_text(mode) for mode in modes):
            yield flaw("text_modes", f"$.{name}", reason=reason)


def streaming(card: Card) -> Iterator[Flaw]:
    """Check that streaming is declared, so that answers arrive as they are made."""
    capabilities = card.value.get("capabilities")
    if isinstance(capabilities, dict) and capabilities.get("streaming") in (None, False):
        yield flaw("streaming", "$.capabilities.streaming")


def skill_ids(card: Card) -> Iterator[Flaw]:
    """Check that no two skills have the same id."""
    seen: set[str] = set()
    for path, skill in card.skills():
        id_ = skill.get("id")
        if not isinstance(id_, str):
            continue
        if id_ in seen:
            yield flaw("skill_ids", f"{path}.id", id=id_)
        seen.add(id_)


def registry_size(card: Card) -> Iterator[Flaw]:
    """Check that Agent Registry takes the card, as `hubctl card` writes it."""
    written = len(json.dumps(card.value, ensure_ascii=False, indent=2).encode(errors="replace")) + 1
    if written > REGISTRY_MAX_BYTES:
        yield flaw("registry_size", "$", bytes=written, most=REGISTRY_MAX_BYTES)


def _is_text(mode: object) -> bool:
    return isinstance(mode, str) and mode.partition(";")[0].strip().lower() in _TEXT_MODES


def declared(card: Card) -> Iterator[Flaw]:
    """Check that both securitySchemes and security are there."""
    for name in ("securitySchemes", "security"):
        if card.value.get(name) in (None, {}, []):
            yield flaw("security", f"$.{name}", field=name)


def names(card: Card) -> Iterator[Flaw]:
    """Check that the names in `security` are declared."""
    schemes = card.object("securitySchemes")
    declared_names = ", ".join(map(repr, islice(schemes, _MAX_NAMES)))
    for path, value in (("$", card.value), *card.skills()):
        requirements = value.get("security")
        for index, requirement in enumerate(requirements if isinstance(requirements, list) else ()):
            for name in requirement if isinstance(requirement, dict) else ():
                if schemes and name not in schemes:
                    place = f"{path}.security[{index}].{name}"
                    yield flaw("security_names", place, scheme=name, declared=declared_names)


def google_oauth(card: Card) -> Iterator[Flaw]:
    """Check that the scheme is Google's OAuth with a code: other providers end in the endless authorization loop."""
    schemes = card.object("securitySchemes")
    if schemes and not any(_flow(scheme) for scheme in schemes.values()):
        yield flaw("no_google_oauth", "$.securitySchemes")
    for path, flow in _flows(card):
        url = flow.get("authorizationUrl")
        if isinstance(url, str) and _of_google(url) is None:
            yield flaw("other_provider", f"{path}.authorizationUrl")


def offline_access(card: Card) -> Iterator[Flaw]:
    """Check that Google is asked for a refresh token."""
    for path, flow in _flows(card):
        url = flow.get("authorizationUrl")
        parts = _of_google(url) if isinstance(url, str) else None
        if parts is None:
            continue
        given = parse_qs(parts.query)
        wanted = {"access_type": "offline", "prompt": "consent"}
        lacking = [f"{name}={value}" for name, value in wanted.items() if given.get(name) != [value]]
        if lacking:
            place = f"{path}.authorizationUrl"
            yield flaw("offline_access", place, lacking=" and ".join(lacking), query="&".join(lacking))


def scopes(card: Card) -> Iterator[Flaw]:
    """Check that the scopes that identify the user are requested."""
    for path, flow in _flows(card):
        given = flow.get("scopes")
        if not isinstance(given, dict):
            continue
        lacking = [scope for scope in _NEEDED_SCOPES if not {scope, f"{_LONG_FORM}{scope}"} & given.keys()]
        if lacking:
            yield flaw("scopes", f"{path}.scopes", lacking=", ".join(lacking))


def _flow(scheme: Any) -> dict[str, Any] | None:
    flows = scheme.get("flows") if isinstance(scheme, dict) else None
    flow = flows.get("authorizationCode") if isinstance(flows, dict) else None
    return flow if isinstance(flow, dict) else None


def _of_google(url: str) -> SplitResult | None:
    parts = parsed(url)
    return parts if parts is not None and parts.hostname == _GOOGLE_HOST else None


def _flows(card: Card) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, scheme in card.object("securitySchemes").items():
        if (flow := _flow(scheme)) is not None:
            yield f"$.securitySchemes.{name}.flows.authorizationCode", flow
