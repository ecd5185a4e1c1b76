"""The identity settings that all functions with callers share, and the verifiers that they turn on."""

import time
from pathlib import Path
from urllib.parse import urlsplit

from a2a_hub.http.client import HttpClient
from a2a_hub.identity import signed_principal
from a2a_hub.identity.authentication import AUTHORIZATION, Authenticator, TokenVerifier, is_bearer_token
from a2a_hub.identity.id_token import IdTokenVerifier
from a2a_hub.identity.introspection import AccessTokenVerifier, TokenPolicy
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.signed_principal import PrincipalSigner
from a2a_hub.identity.static_clients import (
    Client,
    ClientTableError,
    StaticTokenVerifier,
    development_clients,
    digest,
    load_clients,
)
from a2a_hub.settings.reader import LOOPBACK_HOSTS, Settings
from a2a_hub.telemetry.log import Redacted

_USERINFO_URL = "https://www.googleapis.com/oauth2/v3/userinfo"
_TOKENINFO_URL = "https://oauth2.googleapis.com/tokeninfo"
_CERTS_URL = "https://www.googleapis.com/oauth2/v1/certs"


class IdentitySettings(Redacted, frozen=True, kw_only=True):
    """The accepted kinds of identity. An empty `google_audiences` or `id_token_audiences` turns that kind off."""

    clients: tuple[Client, ...]
    google_audiences: frozenset[str]
    google_domains: frozenset[str]
    id_token_audiences: frozenset[str]
    id_token_callers: frozenset[str]
    signing_keys: tuple[str, ...]
    """The gate signs with the first; the hub accepts each. Empty: there is no gate."""
    anonymous: bool
    anonymous_subject: str | None
    """The subject that all anonymous callers share, tasks included: for conformance tests."""
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
                audiences=self.id_token_audiences, callers=self.id_token_callers, certs_url=self.certs_url
            )
            verifiers.append(id_tokens)
        if self.google_audiences:
            access_tokens = AccessTokenVerifier(
                TokenPolicy(audiences=self.google_audiences, domains=self.google_domains),
                http=http,
                now=time.time,
                userinfo_url=self.userinfo_url,
                tokeninfo_url=self.tokeninfo_url,
                ttl_seconds=self.ttl_seconds,
            )
            verifiers.append(access_tokens)
        return tuple(verifiers)

    def signer(self, *, audience: str = "hub") -> PrincipalSigner | None:
        """Return the signer of principal headers for the function `audience`; None without a key."""
        if not self.signing_keys:
            return None
        return PrincipalSigner(self.signing_keys, now=time.time, audience=audience)

    def authenticator(
        self,
        http: HttpClient,
        *,
        trusts_gate: bool,
        token_header: str = AUTHORIZATION,
        audience: str = "hub",
    ) -> Authenticator:
        """Return the authenticator. If it `trusts_gate`, it accepts principal headers that were signed for `audience`."""
        return Authenticator(
            self.verifiers(http),
            signer=self.signer(audience=audience) if trusts_gate else None,
            anonymous=self.anonymous,
            anonymous_principal=Principal(subject=f"anonymous:{self.anonymous_subject}")
            if self.anonymous_subject
            else None,
            token_header=token_header,
        )


def read(settings: Settings, *, trusts_gate: bool, authorizes_accounts: bool = False) -> IdentitySettings:
    """Read the settings. Without any kind of identity, ALLOW_ANONYMOUS=true is required.

    A function that `authorizes_accounts` decides by itself what each account may do, and need not list them.
    """
    signing_keys = settings.listed("GATE_SIGNING_KEY")
    if any(len(key) < signed_principal.MINIMUM_KEY_CHARACTERS for key in signing_keys):
        settings.problem(
            "GATE_SIGNING_KEY",
            f"must have at least {signed_principal.MINIMUM_KEY_CHARACTERS} characters; "
            "while it is changed, two keys with a comma between them",
        )
    identity = IdentitySettings(
        clients=_clients(settings),
        google_audiences=frozenset(settings.listed("GOOGLE_TOKEN_AUDIENCES")),
        google_domains=frozenset(settings.listed("GOOGLE_TOKEN_DOMAINS")),
        id_token_audiences=frozenset(settings.listed("ID_TOKEN_AUDIENCES")),
        id_token_callers=frozenset(settings.listed("ID_TOKEN_CALLERS")),
        signing_keys=signing_keys,
        anonymous=settings.flag("ALLOW_ANONYMOUS"),
        anonymous_subject=settings.optional("ANONYMOUS_SUBJECT"),
        ttl_seconds=settings.number("IDENTITY_TTL_SECONDS", 60, least=0, most=300),
        userinfo_url=_endpoint(settings, "GOOGLE_USERINFO_URL", _USERINFO_URL),
        tokeninfo_url=_endpoint(settings, "GOOGLE_TOKENINFO_URL", _TOKENINFO_URL),
        certs_url=_endpoint(settings, "GOOGLE_CERTS_URL", _CERTS_URL),
    )
    if identity.id_token_audiences and not (identity.id_token_callers or authorizes_accounts):
        settings.problem(
            "ID_TOKEN_CALLERS",
            "must name the accounts that get in: everybody at Google can get a token for ID_TOKEN_AUDIENCES",
        )
    on = identity.clients or identity.google_audiences or identity.id_token_audiences
    if not (on or identity.anonymous or (trusts_gate and signing_keys)):
        settings.problem(
            "ALLOW_ANONYMOUS",
            "is not true, and no kind of identity is on: set GOOGLE_TOKEN_AUDIENCES, CLIENTS_FILE, A2A_GATEWAY_TOKEN, "
            "ID_TOKEN_AUDIENCES, HUB_DEV_TOKEN" + (" or GATE_SIGNING_KEY" if trusts_gate else ""),
        )
    return identity


def _clients(settings: Settings) -> tuple[Client, ...]:
    development_tokens = settings.listed("HUB_DEV_TOKEN")
    clients = development_clients(development_tokens)
    gateway_token = settings.optional("A2A_GATEWAY_TOKEN")
    for name, tokens in (("HUB_DEV_TOKEN", development_tokens), ("A2A_GATEWAY_TOKEN", (gateway_token,))):
        if not all(token is None or is_bearer_token(token) for token in tokens):
            settings.problem(name, "holds a token that no header can carry: use letters, digits and -._~+/= only")
    if gateway_token is not None:
        clients += (Client(name="gateway", token_sha256=digest(gateway_token)),)
    if settings.optional("CLIENTS_FILE") is not None:
        path = settings.file("CLIENTS_FILE", Path())
        try:
            clients += load_clients(path.read_text(encoding="utf-8"))
        except ClientTableError as error:
            settings.problem("CLIENTS_FILE", f"names a table with errors: {error}")
        except UnicodeDecodeError:
            settings.problem("CLIENTS_FILE", "names a file that is not UTF-8")
        except OSError:
            pass  # `Settings.file` has recorded it.
    return clients


def _endpoint(settings: Settings, name: str, default: str) -> str:
    url = settings.url(name, default)
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in LOOPBACK_HOSTS:
        settings.problem(name, "must be https, except on loopback: tokens are sent there")
    return url
