"""`api_key`: a key from the agent's owner, in a header or a query parameter."""

import json
import re
from typing import ClassVar, Self

from a2a_hub.a2a.card import SecurityScheme
from a2a_hub.a2a.client_errors import ClientFault
from a2a_hub.boundaries.boundary import Credential, CredentialRequest, Destination, Examination, SecretBoundary
from a2a_hub.boundaries.sources import SecretReference, read_reference
from a2a_hub.diagnosis.report import Step, ok
from a2a_hub.toml.checked_table import CheckedTable

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
# Headers with another meaning; the first two would change where a request goes or ends.
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "a2a-version"}
    | {"a2a-extensions", "x-a2a-extensions", "traceparent", "x-request-id", "cookie"}
)


class ApiKey(SecretBoundary, frozen=True, kw_only=True):
    """A key in the header `name`, or in the query's parameter `name`."""

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

    def remedy(self, fault: ClientFault, agent: Destination, _: Credential) -> str | None:
        if fault is ClientFault.RATE_LIMITED:
            return "the agent limits how often this API key is used: its owner can raise the limit"
        return (
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
