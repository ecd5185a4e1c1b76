"""The sources of credentials, and a route's references to secrets: a place, never the secret itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec import Struct

from a2a_hub.identity.service_tokens import ServiceTokens
from a2a_hub.runtime.shared_fetch import MAX_WAIT_SECONDS, SharedFetch
from a2a_hub.toml.checked_table import CheckedTable

if TYPE_CHECKING:
    from a2a_hub.identity.signed_principal import PrincipalSigner

K = TypeVar("K")
Key = TypeVar("Key", contravariant=True)
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)")
_RESOURCE = re.compile(r"projects/([a-z0-9.:-]+)/secrets/([A-Za-z0-9_-]+)/versions/([a-z0-9_-]+)")


class NoCredential(Exception):
    """A request cannot get its credential. `cause` and `remedy` are for the operator and name no secret."""

    def __init__(self, fault: str, cause: str, remedy: str) -> None:
        super().__init__(cause)
        self.fault = fault
        self.cause = cause
        self.remedy = remedy


class SecretReference(Struct, frozen=True):
    """`env:NAME`, or `projects/PROJECT/secrets/NAME/versions/VERSION`. It is no secret itself."""

    text: str

    def __str__(self) -> str:
        return f"the variable {self.variable}" if self.variable else self.text

    @property
    def variable(self) -> str | None:
        """The name of the environment's variable; None for a secret of Secret Manager."""
        found = _VARIABLE.fullmatch(self.text)
        return found[1] if found else None

    @property
    def remedy(self) -> str:
        """The way to set the secret, or to replace it."""
        if found := _RESOURCE.fullmatch(self.text):
            return f"gcloud secrets versions add {found[2]} --project={found[1]} --data-file=FILE_WITH_THE_SECRET"
        return f"set {self.variable} in the hub's environment, in a deployment from a secret (docs/boundaries.md)"

    @property
    def grant(self) -> str:
        """The command that lets the hub read a secret of Secret Manager."""
        project, name = self.text.split("/")[1:4:2]
        return (
            f"gcloud secrets add-iam-policy-binding {name} --project={project} "
            "--member=serviceAccount:HUB_SERVICE_ACCOUNT --role=roles/secretmanager.secretAccessor"
        )


class Source(Protocol[Key]):
    """A source of secrets by their references, or of access tokens by their clients. Raises NoCredential."""

    def value(self, key: Key, /, *, rejected: str | None = None) -> str:
        """Return the value; where the last one was `rejected`, another one, or that of now."""


class ClientAuthentication(StrEnum):
    """The way in which a client proves itself at a token endpoint (RFC 7591 §2, `token_endpoint_auth_method`)."""

    BASIC = "client_secret_basic"
    POST = "client_secret_post"


class OAuthClient(Struct, frozen=True, kw_only=True):
    """A client of an authorization server. Equal ones share their access token."""

    token_url: str
    client_id: str
    secret: SecretReference
    scopes: tuple[str, ...] = ()
    audience: str | None = None
    """The parameter `audience`, which some authorization servers need; None sends none."""
    authentication: ClientAuthentication = ClientAuthentication.BASIC


class CredentialSources(Struct, frozen=True, kw_only=True):
    """The sources of one process. Without `tokens`, the hub has no identity of its own and calls loopback agents only.

    With `spares_loopback`, agents on this machine get no token, since nothing in front of them checks one.
    """

    tokens: ServiceTokens | None = None
    spares_loopback: bool = False
    secrets: Source[SecretReference] | None = None
    access_tokens: Source[OAuthClient] | None = None
    signer: Callable[[str], PrincipalSigner | None] = lambda _: None
    """The signer of principals for an audience; None where the hub has no key."""

    def secret(self, reference: SecretReference, *, rejected: str | None = None) -> str:
        """Return a secret; see `Source.value`."""
        if self.secrets is None:
            raise NoCredential("no_secret", "this process reads no secrets", reference.remedy)
        return self.secrets.value(reference, rejected=rejected)

    def access_token(self, client: OAuthClient, *, rejected: str | None = None) -> str:
        """Return an access token by the client credentials grant; see `Source.value`."""
        if self.access_tokens is None:
            raise NoCredential("no_access_token", "this process fetches no access tokens", client.secret.remedy)
        return self.access_tokens.value(client, rejected=rejected)


def fetch_shared(fetched: SharedFetch[K], key: K, name: str, *, rejected: str | None) -> str:
    """Return the value of `SharedFetch.value`. Every failure raises NoCredential."""
    try:
        return fetched.value(key, rejected=rejected)
    except NoCredential:
        raise
    except TimeoutError:
        late = f"the {name} did not come within {MAX_WAIT_SECONDS:.0f} s"
        raise NoCredential("credential_timeout", late, "see why its server is slow") from None
    except Exception:
        cause = f"an exception inside the hub while it fetched the {name}"
        raise NoCredential("internal", cause, "see the hub's log") from None


def read_reference(table: CheckedTable, key: str) -> SecretReference:
    """Read a required reference. No message quotes another value, which may be the secret."""
    value = table.values.get(key)
    if isinstance(value, str) and (_VARIABLE.fullmatch(value) or _RESOURCE.fullmatch(value)):
        return SecretReference(value)
    found = "is missing" if value is None else "is no reference to a secret"
    table.problem(
        None if value is None else key,
        f'{key} {found}: write {key} = "env:NAME", a variable of the hub\'s environment, or '
        f'"projects/PROJECT/secrets/NAME/versions/latest"; the secret itself never stands here',
    )
    return SecretReference("env:MISSING")
