"""Rules on authentication: without it declared, no user's token arrives."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from hubctl.cards.card import Card, Flaw

_NEEDED_SCOPES = ("openid", "email")
_GOOGLE_HOST = "accounts.google.com"
_SHOWN = "hubctl card --for gemini-enterprise shows them"


def declared(card: Card) -> Iterator[Flaw]:
    """Check that both securitySchemes and security are there."""
    for name in ("securitySchemes", "security"):
        if card.value.get(name) in (None, {}, []):
            yield Flaw(
                path=f"$.{name}",
                message=f"{name} is not declared: no user id and no delegated token reach the agent",
                fix=f"declare securitySchemes and security; {_SHOWN}",
            )


def names(card: Card) -> Iterator[Flaw]:
    """Check that the names in `security` are declared."""
    schemes = card.object("securitySchemes")
    for path, value in (("$", card.value), *card.skills()):
        requirements = value.get("security")
        for index, requirement in enumerate(requirements if isinstance(requirements, list) else ()):
            for name in requirement if isinstance(requirement, dict) else ():
                if schemes and name not in schemes:
                    yield Flaw(
                        path=f"{path}.security[{index}].{name}",
                        message=f"{name!r} is not among the securitySchemes",
                        fix=f"write one of {', '.join(map(repr, schemes))}",
                    )


def google_oauth(card: Card) -> Iterator[Flaw]:
    """Check that the scheme is Google's OAuth with a code: other providers end in the endless authorization loop."""
    schemes = card.object("securitySchemes")
    if schemes and not any(_flow(scheme) for scheme in schemes.values()):
        yield Flaw(
            path="$.securitySchemes",
            message="no scheme is OAuth 2.0 with an authorization code",
            fix=f"declare Google's OAuth with authorizationCode; {_SHOWN}",
        )
    for path, flow in _flows(card):
        url = flow.get("authorizationUrl")
        if isinstance(url, str) and urlsplit(url).hostname != _GOOGLE_HOST:
            yield Flaw(
                path=f"{path}.authorizationUrl",
                message="the provider is not Google: its tokens cannot be introspected at Google, and the tokens of mock "
                "providers are rejected without a word",
                fix=f"use https://{_GOOGLE_HOST}/o/oauth2/v2/auth",
            )


def offline_access(card: Card) -> Iterator[Flaw]:
    """Check that Google is asked for a refresh token."""
    for path, flow in _flows(card):
        url = flow.get("authorizationUrl")
        if not isinstance(url, str) or urlsplit(url).hostname != _GOOGLE_HOST:
            continue
        given = parse_qs(urlsplit(url).query)
        wanted = {"access_type": "offline", "prompt": "consent"}
        lacking = [f"{name}={value}" for name, value in wanted.items() if given.get(name) != [value]]
        if lacking:
            yield Flaw(
                path=f"{path}.authorizationUrl",
                message=f"{' and '.join(lacking)} is not in the URL: Google gives no refresh token, and users are asked again",
                fix=f"add {'&'.join(lacking)}",
            )


def scopes(card: Card) -> Iterator[Flaw]:
    """Check that the scopes that identify the user are requested."""
    for path, flow in _flows(card):
        given = flow.get("scopes")
        if not isinstance(given, dict):
            continue
        lacking = [scope for scope in _NEEDED_SCOPES if scope not in given and not _is_long_form(scope, given)]
        if lacking:
            yield Flaw(
                path=f"{path}.scopes",
                message=f"{', '.join(lacking)} is not among the scopes: the token does not tell who the user is",
                fix=f"add {', '.join(lacking)}",
            )


def _is_long_form(scope: str, given: dict[str, Any]) -> bool:
    return f"https://www.googleapis.com/auth/userinfo.{scope}" in given


def _flow(scheme: Any) -> dict[str, Any] | None:
    flows = scheme.get("flows") if isinstance(scheme, dict) else None
    flow = flows.get("authorizationCode") if isinstance(flows, dict) else None
    return flow if isinstance(flow, dict) else None


def _flows(card: Card) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, scheme in card.object("securitySchemes").items():
        if (flow := _flow(scheme)) is not None:
            yield f"$.securitySchemes.{name}.flows.authorizationCode", flow
