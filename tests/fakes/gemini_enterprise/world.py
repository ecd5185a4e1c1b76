"""The state of the stand-in: a project with its apps, operators, OAuth clients, authorizations and agents."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from local.cloud.program import ApiError

ADMIN_ROLE = "roles/discoveryengine.agentspaceAdmin"
REDIRECT_URIS = (
    "https://vertexaisearch.cloud.google.com/oauth-redirect",
    "https://vertexaisearch.cloud.google.com/static/oauth/oauth.html",
)


@dataclass(frozen=True, kw_only=True)
class Operator:
    """Somebody who calls the API. A user has to name a project for the quota; a service account has its own."""

    email: str
    roles: frozenset[str] = frozenset({ADMIN_ROLE})
    is_user: bool = True
    public_key: bytes | None = None
    """Of a service account: PEM, to verify the assertions that it signs."""


@dataclass(kw_only=True)
class OAuthClient:
    """An OAuth client of type Web."""

    id: str
    secret: str
    redirect_uris: tuple[str, ...] = REDIRECT_URIS


@dataclass(kw_only=True)
class Authorization:
    """An authorization; `oauth` is its serverSideOauth2, with the secret, which is never given out."""

    name: str
    display_name: str
    oauth: dict[str, Any]

    @property
    def resource(self) -> dict[str, Any]:
        """The authorization as the API gives it out."""
        oauth = {name: value for name, value in self.oauth.items() if name != "clientSecret"}
        return {"name": self.name, "displayName": self.display_name, "serverSideOauth2": oauth}


@dataclass(kw_only=True)
class Agent:
    """An agent of an app; `fields` are those of the API that the caller wrote."""

    name: str
    fields: dict[str, Any]

    @property
    def resource(self) -> dict[str, Any]:
        """The agent as the API gives it out."""
        return {**self.fields, "name": self.name, "state": "ENABLED"}

    @property
    def authorization(self) -> str | None:
        """The authorization that it uses."""
        name: str | None = self.fields.get("authorizationConfig", {}).get("agentAuthorization")
        return name

    @property
    def shared(self) -> bool:
        """True if people see it: an agent stays invisible until it is shared."""
        return bool(self.fields.get("sharingConfig", {}).get("scope") == "ALL_USERS")


_T = TypeVar("_T", Agent, Authorization)


def found(resources: Mapping[str, _T], name: str) -> _T:
    """Return the resource. Raises ApiError NOT_FOUND."""
    if name not in resources:
        kind = "Agent" if "/agents/" in name else "Authorization"
        raise ApiError("NOT_FOUND", f"{kind} {name} not found.")
    return resources[name]


@dataclass(kw_only=True)
class World:
    """One project. Everything in it may be changed while it is served."""

    project_id: str = "demo"
    project_number: str = "123456789012"
    api_enabled: bool = True
    apps: set[tuple[str, str]] = field(default_factory=set)
    """(location, app)."""
    operators: dict[str, Operator] = field(default_factory=dict)
    """By access token."""
    service_accounts: list[Operator] = field(default_factory=list)
    clients: dict[str, OAuthClient] = field(default_factory=dict)
    authorizations: dict[str, Authorization] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)
    """By name: how many more times it answers that it is not done."""
    lock: threading.RLock = field(default_factory=threading.RLock)
    _last_id: int = 7_000_000_000_000_000_000

    def next_id(self) -> str:
        """Return an id as the server assigns them."""
        self._last_id += 104_729
        return str(self._last_id)
