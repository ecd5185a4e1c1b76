"""`oauth_client_credentials`: an access token from the agent's own authorization server (RFC 6749 §4.4)."""

import json
import re
from typing import ClassVar, Self
from urllib.parse import urlsplit

from a2a_hub.a2a.card import SecurityScheme
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.boundary import (
    Credential,
    CredentialRequest,
    Destination,
    Examination,
    SecretBoundary,
    address_problem,
    bearer,
)
from a2a_hub.boundaries.sources import ClientAuthentication, OAuthClient, read_reference
from a2a_hub.diagnosis.report import Step, ok
from a2a_hub.toml.checked_table import CheckedTable

_SCOPE = re.compile(r"[!#-\[\]-~]+")


class OAuthClientCredentials(SecretBoundary, frozen=True, kw_only=True):
    """The access token of a client that the authorization server knows."""

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
        for index, scope in enumerate(scopes):
            if scope and not _SCOPE.fullmatch(scope):
                table.problem("scopes", f"scope {scope!r} is no scope: write one in each text", index=index)
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

    def remedy(self, fault: ClientFault, agent: Destination, _: Credential) -> str | None:
        route = agent.id
        match fault:
            case ClientFault.RATE_LIMITED:
                return (
                    f"the agent limits how often client {self.client.client_id} calls it: its owner can raise the limit"
                )
            case ClientFault.FORBIDDEN:
                return (
                    f"the agent lets client {self.client.client_id} in, but not do this: grant it the scope that is needed, and "
                    f"add that to scopes of route {route}"
                )
            case _:
                return (
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
