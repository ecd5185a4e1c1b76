"""`google_api`: an API of Google's, which takes an OAuth access token of the hub's service account."""

from typing import ClassVar

from a2a_hub.boundaries.boundary import Destination, OwnTokenBoundary
from a2a_hub.identity.service_tokens import ServiceTokens


class GoogleApi(OwnTokenBoundary, frozen=True, kw_only=True):
    """An access token of the hub's service account."""

    kind: ClassVar[str] = "google_api"

    def token(self, _: Destination, tokens: ServiceTokens) -> str:
        return tokens.access_token()

    def description(self, _: Destination) -> str:
        return "an access token of the hub's own"
