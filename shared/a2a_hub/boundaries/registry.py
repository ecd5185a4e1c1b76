"""The kinds of boundary, by the value of `boundary` in a route. A new kind is a file, and a row here."""

from a2a_hub.boundaries.api_key import ApiKey
from a2a_hub.boundaries.boundary import Boundary
from a2a_hub.boundaries.google_api import GoogleApi
from a2a_hub.boundaries.iam import Iam
from a2a_hub.boundaries.oauth_client_credentials import OAuthClientCredentials
from a2a_hub.boundaries.public import Public
from a2a_hub.boundaries.user import User

KINDS: dict[str, type[Boundary]] = {
    each.kind: each for each in (Public, Iam, GoogleApi, User, ApiKey, OAuthClientCredentials)
}
BOUNDARY_KEYS = frozenset(key for kind in KINDS.values() for key in kind.keys)
"""The keys of a route that belong to some kind."""
