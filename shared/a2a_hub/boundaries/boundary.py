"""The base of all kinds of boundary: the credential, its description, the remedy for a refusal, and the doctor's examination.

A kind does no input or output of its own: tokens and secrets come from `CredentialSources`.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, NamedTuple, Protocol, Self
from urllib.parse import urlsplit

from msgspec import Struct

from a2a_hub.a2a.card import SecurityScheme
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.sources import CredentialSources, NoCredential
from a2a_hub.diagnosis.gcloud import Service, service_of
from a2a_hub.diagnosis.report import Step, error, failed, ok
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.service_tokens import ServiceTokens, TokenUnavailable
from a2a_hub.telemetry.log import Redacted
from a2a_hub.toml.checked_table import CheckedTable

_LOOPBACK = re.compile(r"localhost|::1|127(\.[0-9]{1,3}){3}")
WITHOUT_CREDENTIALS = (
    "deploy the hub with --service-account; on your own machine: gcloud auth application-default login "
    "--impersonate-service-account=HUB_SERVICE_ACCOUNT (a person's own login gives no ID token for an agent)"
)


class Destination(Protocol):
    """The agent behind a boundary, as its route names it."""

    @property
    def id(self) -> str:
        """The route's id."""

    @property
    def url(self) -> str:
        """The agent's address."""

    @property
    def signs_caller_for(self) -> str:
        """The audience of the signed principal header sent to the agent; "" sends none."""


class Credential(Redacted, frozen=True, kw_only=True):
    """The headers that one request carries across a boundary, and the parameters of its URL's query."""

    headers: Mapping[str, str] = {}
    query: Mapping[str, str] = {}


class CredentialRequest(Redacted, frozen=True, kw_only=True):
    """One request that needs a credential. `authorization` is its caller's own header, `caller` its principal."""

    agent: Destination
    sources: CredentialSources
    authorization: str | None = None
    caller: Principal | None = None


class Examination(Redacted, frozen=True, kw_only=True):
    """The doctor's request to an agent that got `credential`.

    `hub` is the hub itself on Cloud Run, `now` the time of day in seconds since the epoch.
    """

    agent: Destination
    credential: Credential
    hub: Service | None
    now: float


class Remedy(NamedTuple):
    """The operator's way out of a refusal, in words and, where there is one, as an exact command."""

    fix: str
    command: str | None = None

    def __str__(self) -> str:
        return f"{self.fix}: {self.command}" if self.command else self.fix


class Boundary(Struct, frozen=True, kw_only=True):
    """A boundary with the route's settings for it."""

    kind: ClassVar[str]
    """The value of `boundary` in a route."""
    keys: ClassVar[frozenset[str]] = frozenset({"audience"})
    """The keys of a route that belong to this kind; `audience` is allowed, and ignored, where no token has one."""
    per_caller: ClassVar[bool] = False
    """True if each caller has a credential of their own: a refusal then proves nothing about the agent."""
    is_probed: ClassVar[bool] = False
    """True if the agent may serve its card without the credential: the doctor then requests a task, too."""

    def __str__(self) -> str:
        return self.kind

    @classmethod
    def read(cls, _: CheckedTable) -> Self:
        """Read the keys of this kind. Every mistake becomes a problem of the table."""
        return cls()

    def credential(self, request: CredentialRequest) -> Credential:
        """Return the credential of one request. Raises NoCredential."""
        raise NotImplementedError

    def renewed(self, _request: CredentialRequest, _rejected: Credential) -> Credential | None:
        """Return another credential after a 401 for this one; None where there is no other. Raises NoCredential."""
        return None

    def remedy(self, _fault: ClientFault, _agent: Destination, _credential: Credential) -> Remedy | None:
        """Return the remedy for an UNAUTHENTICATED, FORBIDDEN or RATE_LIMITED call; None where that is not known."""
        return None

    def account(self, _: Credential) -> str | None:
        """Return the service account that the credential names."""
        return None

    def credential_step(self, examination: Examination) -> Step:
        """Return the doctor's step on the credential that is sent."""
        raise NotImplementedError

    def missing_step(self, missing: NoCredential, _hub: Service | None) -> Step:
        """Return the doctor's step on a credential that cannot be had."""
        return failed("credential", missing.cause, remedy=missing.remedy)

    def refusal_step(self, status: int, examination: Examination) -> Step:
        """Return the doctor's step on an agent that answers 401 or 403."""
        agent = examination.agent
        fault = ClientFault.UNAUTHENTICATED if status == 401 else ClientFault.FORBIDDEN
        remedy = self.remedy(fault, agent, examination.credential) or Remedy(
            "see the agent's log, or set the boundary that it needs in routes.toml",
            service_of(agent.url, name=agent.id).logs(),
        )
        check = "access" if self.is_probed else "iam"
        message = f"HTTP {status}: the agent refuses the hub (boundary {self.kind})"
        return error(check, message, fix=remedy.fix, command=remedy.command)

    def serves(self, _scheme: SecurityScheme, _scopes: tuple[str, ...]) -> bool:
        """Return True if the credential satisfies the scheme of an agent's card with these scopes, as far as is known."""
        return True

    @classmethod
    def route_lines(cls, _scheme: SecurityScheme, _scopes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the lines of a route of this kind that serve the scheme; none where this kind cannot."""
        return ()

    def admission_step(self, _: Examination) -> Step | None:
        """Return the doctor's step on an agent that served its card; None where that proves nothing."""
        return None


class OwnTokenBoundary(Boundary, frozen=True, kw_only=True):
    """Base of the kinds whose credential is a Google token of the hub's own."""

    def token(self, agent: Destination, tokens: ServiceTokens) -> str:
        """Fetch the token. Raises TokenUnavailable."""
        raise NotImplementedError

    def description(self, agent: Destination) -> str:
        """Name the token for the operator."""
        raise NotImplementedError

    def credential(self, request: CredentialRequest) -> Credential:
        """See `Boundary.credential`."""
        agent, tokens = request.agent, request.sources.tokens
        if is_on_loopback(agent.url) and (tokens is None or request.sources.spares_loopback):
            return Credential()
        if tokens is None:
            raise NoCredential(
                "no_credentials",
                f"the route's boundary is {self.kind}, and IAM_CREDENTIALS=none allows loopback agents only",
                "unset IAM_CREDENTIALS, so that Application Default Credentials are used",
            )
        try:
            return bearer(self.token(agent, tokens))
        except TokenUnavailable:
            raise NoCredential(
                "no_credentials",
                "the hub got no token of its own from Application Default Credentials",
                WITHOUT_CREDENTIALS,
            ) from None

    def missing_step(self, missing: NoCredential, hub: Service | None) -> Step:
        """See `Boundary.missing_step`."""
        if hub is None:
            return super().missing_step(missing, hub)
        fix = f"start new instances of the hub; where it has no service account: {missing.remedy}"
        return error("credential", missing.cause, fix=fix, command=hub.restart())

    def credential_step(self, examination: Examination) -> Step:
        """See `Boundary.credential_step`."""
        if not examination.credential.headers:
            return ok("credential", "none is sent: the agent is on this machine")
        return ok("credential", self.description(examination.agent))


class SecretBoundary(Boundary, frozen=True, kw_only=True):
    """Base of the kinds whose credential comes from a secret that the agent's owner gave out."""

    is_probed: ClassVar[bool] = True


def bearer(token: str) -> Credential:
    """Return the credential that is a bearer token (RFC 6750)."""
    return Credential(headers={"authorization": f"Bearer {token}"})


@lru_cache(maxsize=512)
def is_on_loopback(url: str) -> bool:
    """Return True if the URL names this machine."""
    return bool(_LOOPBACK.fullmatch(urlsplit(url).hostname or ""))


def address_problem(url: str) -> str | None:
    """Return why `url` may not be called, or None: only https goes over a network, http only to this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        _ = parts.port
    except ValueError:
        return "this is not a URL"
    if parts.scheme not in ("http", "https") or not host:
        return "it must be a URL that starts with https://"
    if parts.username is not None or parts.fragment:
        return "it must not hold a user name or a #fragment"
    if parts.scheme == "http" and not is_on_loopback(url):
        return "http is only for this machine (localhost, 127.0.0.1): use https"
    return None
