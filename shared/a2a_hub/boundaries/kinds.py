"""The kinds of boundary, by the value of `boundary` in a route: each is a class here, and a member of `KINDS`."""

import json
import re
from typing import ClassVar, Self
from urllib.parse import urlsplit

from a2a_hub.a2a.card import SecurityScheme
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.boundary import (
    Boundary,
    Credential,
    CredentialRequest,
    Destination,
    Examination,
    OwnTokenBoundary,
    Remedy,
    SecretBoundary,
    address_problem,
    bearer,
)
from a2a_hub.boundaries.sources import ClientAuthentication, NoCredential, OAuthClient, SecretReference, read_reference
from a2a_hub.diagnosis.gcloud import EVERYBODY, service_of
from a2a_hub.diagnosis.report import Step, id_token_step, ok
from a2a_hub.identity.service_tokens import IdTokenClaims, ServiceTokens, id_token_claims
from a2a_hub.toml.checked_table import CheckedTable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
# Headers with another meaning; the first two would change where a request goes or ends.
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "a2a-version"}
    | {"a2a-extensions", "x-a2a-extensions", "traceparent", "x-request-id", "cookie"}
)
_SCOPE = re.compile(r"[!#-\[\]-~]+")


class Public(Boundary, frozen=True, kw_only=True):
    """`public`: everybody may call the agent, and nothing is sent."""

    kind: ClassVar[str] = "public"

    def credential(self, _: CredentialRequest) -> Credential:
        return Credential()

    def remedy(self, fault: ClientFault, agent: Destination, _: Credential) -> Remedy | None:
        service = service_of(agent.url, name=agent.id)
        if fault is ClientFault.RATE_LIMITED:
            return Remedy("where the agent has no instance left", service.more_instances())
        return Remedy(
            f"the agent wants a credential: set the boundary of route {agent.id} in routes.toml, on Cloud Run "
            '"iam" (docs/boundaries.md), or let everybody invoke it',
            service.add_invoker(EVERYBODY),
        )

    def credential_step(self, _: Examination) -> Step:
        return ok("credential", "none is sent: the agent is public")

    def serves(self, _scheme: SecurityScheme, _scopes: tuple[str, ...]) -> bool:
        return False


class User(Boundary, frozen=True, kw_only=True):
    """`user`: the agent acts for the caller, and gets the caller's own Authorization header."""

    kind: ClassVar[str] = "user"
    per_caller: ClassVar[bool] = True

    def credential(self, request: CredentialRequest) -> Credential:
        if request.authorization is None:
            raise NoCredential(
                "no_user_token",
                "the route passes the caller's own token on, and the request carried none",
                "set PASS_CALLER_TOKEN=true at the gate; bind an authorization in Gemini Enterprise",
            )
        return Credential(headers={"authorization": request.authorization})

    def credential_step(self, _: Examination) -> Step:
        return ok("credential", "the caller's own token")


class GoogleApi(OwnTokenBoundary, frozen=True, kw_only=True):
    """`google_api`: an API of Google's, which takes an OAuth access token of the hub's service account."""

    kind: ClassVar[str] = "google_api"

    def token(self, _: Destination, tokens: ServiceTokens) -> str:
        return tokens.access_token()

    def description(self, _: Destination) -> str:
        return "an access token of the hub's own"


class Iam(OwnTokenBoundary, frozen=True, kw_only=True):
    """`iam`: an ID token of the hub's service account, for Cloud Run's IAM in front of the agent."""

    kind: ClassVar[str] = "iam"

    audience: str | None = None
    """The audience of the ID token; None stands for the origin of the agent's URL."""

    @classmethod
    def read(cls, table: CheckedTable) -> Self:
        return cls(audience=table.expanded("audience", "") or None)

    def audience_of(self, agent: Destination) -> str:
        """Return the audience of the agent's token."""
        parts = urlsplit(agent.url)
        return self.audience or f"{parts.scheme}://{parts.netloc}"

    def token(self, agent: Destination, tokens: ServiceTokens) -> str:
        return tokens.id_token(self.audience_of(agent))

    def description(self, agent: Destination) -> str:
        return f"an ID token for {self.audience_of(agent)}"

    def account(self, credential: Credential) -> str | None:
        facts = _facts(credential)
        return facts.email if facts else None

    def remedy(self, fault: ClientFault, agent: Destination, credential: Credential) -> Remedy | None:
        service = service_of(agent.url, name=agent.id)
        if fault is ClientFault.RATE_LIMITED:
            return Remedy("where the agent has no instance left", service.more_instances())
        if fault is ClientFault.FORBIDDEN:
            account = self.account(credential) or "HUB_SERVICE_ACCOUNT"
            return Remedy(
                f"{account} lacks roles/run.invoker on {service.name}: the owner of the agent's project grants it, which "
                "takes effect within minutes",
                service.add_invoker(f"serviceAccount:{account}"),
            )
        audience = self.audience_of(agent)
        return Remedy(
            f"the ID token's audience was {audience}: set the route's audience to what the agent expects, or make it "
            "take this one",
            service.add_audience(audience),
        )

    def credential_step(self, examination: Examination) -> Step:
        facts, hub = _facts(examination.credential), examination.hub
        if facts is None:
            return super().credential_step(examination)
        return id_token_step(facts, examination.now, holder="hub", service=hub)

    def admission_step(self, examination: Examination) -> Step | None:
        if _facts(examination.credential) is None:
            return None
        return ok("iam", "Cloud Run, or another proxy in front of the agent, lets the hub in")


def _facts(credential: Credential) -> IdTokenClaims | None:
    return id_token_claims(credential.headers.get("authorization", ""))


class ApiKey(SecretBoundary, frozen=True, kw_only=True):
    """`api_key`: a key from the agent's owner, in the header `name`, or in the query's parameter `name`."""

    kind: ClassVar[str] = "api_key"
    keys: ClassVar[frozenset[str]] = frozenset({"api_key", "api_key_header", "api_key_query"})

    secret: SecretReference
    name: str = "x-api-key"
    in_query: bool = False

    @classmethod
    def read(cls, table: CheckedTable) -> Self:
        secret = read_reference(table, "api_key")
        in_query = "api_key_query" in table.values
        key = "api_key_query" if in_query else "api_key_header"
        name = table.text(key, "x-api-key")
        if in_query and "api_key_header" in table.values:
            table.problem("api_key_query", "the key goes into a header or into the query: delete one of the two")
        if name and (not _NAME.fullmatch(name) or (not in_query and name.lower() in _RESERVED_HEADERS)):
            table.problem(
                key,
                f"{key} is {name!r}: it must be a name such as x-api-key, and one that HTTP has no use for",
            )
        return cls(secret=secret, name=name, in_query=in_query)

    def credential(self, request: CredentialRequest) -> Credential:
        return self._with(request.sources.secret(self.secret))

    def renewed(self, request: CredentialRequest, rejected: Credential) -> Credential | None:
        """See `Boundary.renewed`. The key may have been replaced in Secret Manager."""
        sent = (rejected.query if self.in_query else rejected.headers).get(self.name, "")
        key = request.sources.secret(self.secret, rejected=sent)
        return None if key == sent else self._with(key)

    def _with(self, key: str) -> Credential:
        return Credential(query={self.name: key}) if self.in_query else Credential(headers={self.name: key})

    @property
    def _place(self) -> str:
        return f"the {'query parameter' if self.in_query else 'header'} {self.name}"

    def remedy(self, fault: ClientFault, agent: Destination, _: Credential) -> Remedy | None:
        if fault is ClientFault.RATE_LIMITED:
            return Remedy("the agent limits how often this API key is used: its owner can raise the limit")
        if self.name.lower() == "authorization":
            return Remedy(
                f"the agent does not accept the API key of route {agent.id}, which goes into {self._place} and comes from "
                f'{self.secret}: replace it, a token after "Bearer " ({self.secret.remedy})'
            )
        return Remedy(
            f"the agent does not accept the API key of route {agent.id}, which goes into {self._place} and comes from "
            f"{self.secret}: replace it ({self.secret.remedy}), or name the place that the agent's card asks for"
        )

    def credential_step(self, _: Examination) -> Step:
        return ok("credential", f"an API key from {self.secret}, in {self._place}")

    def serves(self, scheme: SecurityScheme, _scopes: tuple[str, ...]) -> bool:
        """See `Boundary.serves`. Names of headers have no case (RFC 9110 §5.1)."""
        declared = scheme.api_key_security_scheme
        if declared is None or declared.location != ("query" if self.in_query else "header"):
            return False
        return declared.name == self.name if self.in_query else declared.name.lower() == self.name.lower()

    @classmethod
    def route_lines(cls, scheme: SecurityScheme, _scopes: tuple[str, ...]) -> tuple[str, ...]:
        declared = scheme.api_key_security_scheme
        if declared is None or declared.location not in ("header", "query") or not _NAME.fullmatch(declared.name):
            return ()
        return (
            f'boundary = "{cls.kind}"',
            f"api_key_{declared.location} = {json.dumps(declared.name)}",
            'api_key = "env:NAME"',
        )


class OAuthClientCredentials(SecretBoundary, frozen=True, kw_only=True):
    """`oauth_client_credentials`: an access token from the agent's own authorization server (RFC 6749 §4.4)."""

    kind: ClassVar[str] = "oauth_client_credentials"
    keys: ClassVar[frozenset[str]] = frozenset(
        {"token_url", "client_id", "client_secret", "scopes", "audience", "token_endpoint_auth_method"}
    )

    client: OAuthClient

    @classmethod
    def read(cls, table: CheckedTable) -> Self:
        before = len(table.problems)
        token_url = table.expanded("token_url")
        if token_url and len(table.problems) == before and (message := address_problem(token_url)):
            table.problem("token_url", f"token_url is {token_url!r}: {message}")
        scopes = table.texts("scopes")
        for scope in scopes:
            if scope and not _SCOPE.fullmatch(scope):
                table.problem("scopes", f"scope {scope!r} is no scope: write one in each text")
        method = table.choice("token_endpoint_auth_method", ClientAuthentication)
        client = OAuthClient(
            token_url=token_url,
            client_id=table.expanded("client_id"),
            secret=read_reference(table, "client_secret"),
            scopes=scopes,
            audience=table.expanded("audience", "") or None,
            authentication=method or ClientAuthentication.BASIC,
        )
        return cls(client=client)

    def credential(self, request: CredentialRequest) -> Credential:
        return bearer(request.sources.access_token(self.client))

    def renewed(self, request: CredentialRequest, rejected: Credential) -> Credential | None:
        """See `Boundary.renewed`. One token is fetched for all whose requests were refused with the last one."""
        sent = rejected.headers["authorization"].removeprefix("Bearer ")
        token = request.sources.access_token(self.client, rejected=sent)
        return None if token == sent else bearer(token)

    def remedy(self, fault: ClientFault, agent: Destination, _: Credential) -> Remedy | None:
        route = agent.id
        match fault:
            case ClientFault.RATE_LIMITED:
                return Remedy(
                    f"the agent limits how often client {self.client.client_id} calls it: its owner can raise the limit"
                )
            case ClientFault.FORBIDDEN:
                return Remedy(
                    f"the agent lets client {self.client.client_id} in, but not do this: grant it the scope that is needed, and "
                    f"add that to scopes of route {route}"
                )
            case _:
                return Remedy(
                    f"the agent does not accept the tokens of token_url: compare token_url, scopes and audience of route {route} "
                    "with what the agent's card asks for (hubctl doctor)"
                )

    def credential_step(self, _: Examination) -> Step:
        server = urlsplit(self.client.token_url).netloc
        return ok("credential", f"an access token of {server} for client {self.client.client_id}")

    def serves(self, scheme: SecurityScheme, scopes: tuple[str, ...]) -> bool:
        flow = scheme.oauth2_security_scheme and scheme.oauth2_security_scheme.flows.client_credentials
        return bool(flow and flow.token_url == self.client.token_url and set(scopes) <= set(self.client.scopes))

    @classmethod
    def route_lines(cls, scheme: SecurityScheme, scopes: tuple[str, ...]) -> tuple[str, ...]:
        """See `Boundary.route_lines`. A secret goes only to a token endpoint that the operator has written down."""
        flow = scheme.oauth2_security_scheme and scheme.oauth2_security_scheme.flows.client_credentials
        if not flow or address_problem(flow.token_url) or not all(map(_SCOPE.fullmatch, scopes)):
            return ()
        return (
            f'boundary = "{cls.kind}"',
            f"token_url = {json.dumps(flow.token_url)}",
            f"scopes = {json.dumps(scopes)}",
            'client_id = "ID"',
            'client_secret = "env:NAME"',
        )


KINDS: dict[str, type[Boundary]] = {
    each.kind: each for each in (Public, Iam, GoogleApi, User, ApiKey, OAuthClientCredentials)
}
BOUNDARY_KEYS = frozenset(key for kind in KINDS.values() for key in kind.keys)
"""The keys of a route that belong to some kind."""
