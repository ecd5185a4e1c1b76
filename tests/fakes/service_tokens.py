"""A function's own tokens, without Google's libraries: signed with a key of the test's own, or not to be had."""

import time

from a2a_hub.identity.service_tokens import TokenUnavailable
from local.cloud.accounts import SigningKey, id_token_claims

EMAIL = "hub@my-hub-project.iam.gserviceaccount.com"


class SignedTokens:
    """ID tokens of one account, with a lifetime; a negative one has expired that long ago."""

    def __init__(self, *, email: str = EMAIL, lifetime_seconds: float = 3600) -> None:
        self._key = SigningKey()
        self._email = email
        self._lifetime_seconds = lifetime_seconds

    def id_token(self, audience: str) -> str:
        """An OIDC ID token for `audience`."""
        return self._key.signed(
            id_token_claims(
                audience=audience, email=self._email, now=time.time(), lifetime_seconds=self._lifetime_seconds
            )
        )

    def access_token(self) -> str:
        """An OAuth access token."""
        return "ya29.access"


class NoTokens:
    """Whoever issues tokens cannot be reached."""

    def id_token(self, _: str) -> str:
        """Raises TokenUnavailable."""
        raise TokenUnavailable

    def access_token(self) -> str:
        """Raises TokenUnavailable."""
        raise TokenUnavailable
