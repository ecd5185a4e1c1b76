"""The identity settings that all functions with callers share, and the verifiers that they turn on."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from a2a_hub.http.client import HttpClient
from a2a_hub.identity import private_key
from a2a_hub.identity.authentication import AUTHORIZATION, Authenticator, TokenVerifier, is_bearer_token
from a2a_hub.identity.id_token import IdTokenVerifier
from a2a_hub.identity.introspection import AccessTokenVerifier
from a2a_hub.identity.principal import (
    GATE,
    Clients,
    ClientTableError,
    Contract,
    Principal,
    StaticTokenVerifier,
    client,
    development_clients,
    digest,
    load_clients,
)
from a2a_hub.identity.public_keys import EXPECTED, PublicKey, public_keys
from a2a_hub.settings.reader import Settings
from a2a_hub.telemetry.log import Redacted

if TYPE_CHECKING:
    from a2a_hub.identity.signed_principal import PrincipalSigner

_USERINFO_URL = "https://www.googleapis.com/oauth2/v3/userinfo"
_TOKENINFO_URL = "https://oauth2.googleapis.com/tokeninfo"
_CERTS_URL = "https://www.googleapis.com/oauth2/v1/certs"
_FORMER_KEY = "GATE_SIGNING_KEY"
_MIN_TOKEN_CHARACTERS = 32
_ANONYMOUS = "anonymous"
_CONTRACTS_EXPECTED = (
    "must name contracts as CALLER=ui or CALLER=program, separated by commas: the id of an OAuth client, the account of an ID "
    "token, or anonymous"
)


class IdentitySettings(Redacted, frozen=True, kw_only=True):
    """The accepted kinds of identity. An empty `google_audiences` or `id_token_audiences` turns that kind off."""

    clients: Clients
    google_audiences: frozenset[str]
    google_domains: frozenset[str]
    id_token_audiences: frozenset[str]
    id_token_callers: frozenset[str]
    function: str
    """The function's name in principal headers."""
    signing_key: str
    """Its private key (PEM) for them; empty: it signs none."""
    trusted_keys: Mapping[str, tuple[PublicKey, ...]]
    """The public keys of each function whose headers it accepts. Empty: there is no gate."""
    anonymous: bool
    anonymous_subject: str | None
    """The subject that all anonymous callers share, tasks included: for conformance tests."""
    contracts: Mapping[str, Contract]
    """The contracts of OAuth clients by id, of ID token callers by email, and of `anonymous` callers."""
    ttl_seconds: float
    userinfo_url: str
    tokeninfo_url: str
    certs_url: str

    def verifiers(self, http: HttpClient) -> tuple[TokenVerifier, ...]:
        """Return the configured verifiers, the cheapest first."""
        verifiers: list[TokenVerifier] = []
        if self.clients:
            verifiers.append(StaticTokenVerifier(self.clients))
        if self.id_token_audiences:
            id_tokens = IdTokenVerifier(
                audiences=self.id_token_audiences,
                callers=self.id_token_callers,
                contracts=self.contracts,
                certs_url=self.certs_url,
            )
            verifiers.append(id_tokens)
        if self.google_audiences:
            access_tokens = AccessTokenVerifier(
                audiences=self.google_audiences,
                domains=self.google_domains,
                http=http,
                now=time.time,
                userinfo_url=self.userinfo_url,
                tokeninfo_url=self.tokeninfo_url,
                ttl_seconds=self.ttl_seconds,
                contracts=self.contracts,
            )
            verifiers.append(access_tokens)
        return tuple(verifiers)

    def signer(self, *, audience: str) -> PrincipalSigner | None:
        """Return the signer of principal headers for the function `audience`; None without a key."""
        if not self.signing_key:
            return None
        # It needs `cryptography`: a hub without a gate starts sooner without it.
        from a2a_hub.identity.signed_principal import PrincipalSigner

        return PrincipalSigner(self.signing_key, now=time.time, audience=audience)

    def authenticator(
        self, http: HttpClient, *, token_header: str = AUTHORIZATION, speaker: str = GATE
    ) -> Authenticator:
        """Return the authenticator; it accepts principal headers of the trusted functions; `speaker` names any caller in them."""
        verifier = None
        if self.trusted_keys:
            from a2a_hub.identity.signed_principal import PrincipalVerifier

            verifier = PrincipalVerifier(self.trusted_keys, now=time.time, audience=self.function, speaker=speaker)
        return Authenticator(
            self.verifiers(http),
            header_verifier=verifier,
            anonymous=self.anonymous,
            anonymous_principal=Principal(
                subject=f"anonymous:{self.anonymous_subject}", contract=self.contracts.get(_ANONYMOUS)
            )
            if self.anonymous_subject
            else None,
            token_header=token_header,
        )


def read(
    settings: Settings, *, function: str = "", trusts: Sequence[str] = (), authorizes_accounts: bool = False
) -> IdentitySettings:
    """Read the settings. Without any kind of identity, ALLOW_ANONYMOUS=true is required.

    `function` signs principal headers under its name, and accepts those of the functions that it `trusts`; "" does neither.
    A function that `authorizes_accounts` decides by itself what each account may do, and need not list them.
    """
    if settings.optional(_FORMER_KEY):
        settings.problem(
            _FORMER_KEY,
            "is no longer used: gate, hub and tasks each have a SIGNING_KEY of their own, and know one another's public keys by "
            "GATE_PUBLIC_KEYS, HUB_PUBLIC_KEYS and TASKS_PUBLIC_KEYS (docs/decisions/identity.md)",
        )
    found = {each: settings.parsed(f"{each.upper()}_PUBLIC_KEYS", public_keys, expected=EXPECTED) for each in trusts}
    keys = [key for each in found.values() for key in set(each or ())]
    if len(set(keys)) < len(keys):
        names = " and ".join(f"{each.upper()}_PUBLIC_KEYS" for each in trusts)
        settings.problem(names, "name one key: each function has a key of its own")
    identity = IdentitySettings(
        clients=_clients(settings),
        google_audiences=frozenset(settings.listed("GOOGLE_TOKEN_AUDIENCES")),
        google_domains=frozenset(settings.listed("GOOGLE_TOKEN_DOMAINS")),
        id_token_audiences=frozenset(settings.listed("ID_TOKEN_AUDIENCES")),
        id_token_callers=frozenset(settings.listed("ID_TOKEN_CALLERS")),
        function=function,
        signing_key=private_key.read(settings, "SIGNING_KEY") if function else "",
        trusted_keys={each: keys for each, keys in found.items() if keys},
        anonymous=settings.flag("ALLOW_ANONYMOUS"),
        anonymous_subject=settings.optional("ANONYMOUS_SUBJECT"),
        contracts=settings.parsed("CALLER_CONTRACTS", _contracts, expected=_CONTRACTS_EXPECTED) or {},
        ttl_seconds=settings.number("IDENTITY_TTL_SECONDS", 60, minimum=0, maximum=300),
        userinfo_url=settings.url("GOOGLE_USERINFO_URL", _USERINFO_URL, takes_tokens=True),
        tokeninfo_url=settings.url("GOOGLE_TOKENINFO_URL", _TOKENINFO_URL, takes_tokens=True),
        certs_url=settings.url("GOOGLE_CERTS_URL", _CERTS_URL, takes_tokens=True),
    )
    if identity.id_token_audiences and not (identity.id_token_callers or authorizes_accounts):
        settings.problem(
            "ID_TOKEN_CALLERS",
            "must name the accounts that get in: everybody at Google can get a token for ID_TOKEN_AUDIENCES",
        )
    known = {*identity.google_audiences, *identity.id_token_callers}
    known |= {_ANONYMOUS} if identity.anonymous_subject else set()
    if unknown := sorted(identity.contracts.keys() - known):
        settings.problem("CALLER_CONTRACTS", f"names callers that no other setting admits: {', '.join(unknown)}")
    on = identity.clients or identity.google_audiences or identity.id_token_audiences
    if not (on or identity.anonymous or identity.trusted_keys):
        settings.problem(
            "ALLOW_ANONYMOUS",
            "is not true, and no kind of identity is on: set GOOGLE_TOKEN_AUDIENCES, CLIENTS_FILE, A2A_GATEWAY_TOKEN, "
            "ID_TOKEN_AUDIENCES, HUB_DEV_TOKEN" + (" or GATE_PUBLIC_KEYS" if GATE in trusts else ""),
        )
    return identity


def _clients(settings: Settings) -> Clients:
    development_tokens = settings.listed("HUB_DEV_TOKEN")
    clients = dict(development_clients(development_tokens))
    gateway_token = settings.optional("A2A_GATEWAY_TOKEN")
    gateway_tokens = (gateway_token,) if gateway_token else ()
    # Development tokens are for one machine: a function that the platform runs refuses short ones as well.
    is_deployed = settings.optional("K_SERVICE") is not None
    for name, tokens, min_characters in (
        ("HUB_DEV_TOKEN", development_tokens, _MIN_TOKEN_CHARACTERS if is_deployed else 1),
        ("A2A_GATEWAY_TOKEN", gateway_tokens, _MIN_TOKEN_CHARACTERS),
    ):
        if not all(map(is_bearer_token, tokens)):
            settings.problem(name, "holds a token that no header can carry: use letters, digits and -._~+/= only")
        if any(len(token) < min_characters for token in tokens):
            settings.problem(name, f"must have at least {min_characters} characters: `openssl rand -hex 32` prints 64")
    clients |= {digest(token): client("gateway") for token in gateway_tokens}
    if settings.optional("CLIENTS_FILE") is not None:
        path = settings.file("CLIENTS_FILE", Path())
        try:
            clients |= load_clients(path.read_text(encoding="utf-8"))
        except ClientTableError as error:
            settings.problem("CLIENTS_FILE", f"names a table with errors: {error}")
        except UnicodeDecodeError:
            settings.problem("CLIENTS_FILE", "names a file that is not UTF-8")
        except OSError:
            pass  # `Settings.file` has recorded it.
    return clients


def _contracts(text: str) -> dict[str, Contract]:
    rows = (row.strip().rpartition("=") for row in text.split(",") if row.strip())
    return {name: Contract(contract) for name, _, contract in rows}
