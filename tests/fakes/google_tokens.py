"""The local stand-in for Google's userinfo and tokeninfo, told what to answer."""

import contextlib
from collections.abc import Iterator
from typing import Any

from local.cloud.google_tokens import TOKENINFO, USERINFO, GoogleTokens
from local.cloud.program import Server
from tests.fakes.local_cloud import call

AUDIENCE = "1234-hub.apps.googleusercontent.com"
# A user of one company whose token was made for the hub's own OAuth client.
USER = {
    "sub": "110248495921238986420",
    "name": "Hanako Yamada",
    "email": "hanako@example.com",
    "email_verified": True,
    "hd": "example.com",
    "aud": AUDIENCE,
    "azp": AUDIENCE,
}


class Google:
    """The stand-in at an address."""

    def __init__(self, tokens: GoogleTokens, url: str) -> None:
        self._tokens = tokens
        self._url = url
        self.userinfo_url = url + USERINFO
        self.tokeninfo_url = url + TOKENINFO

    def issue(self, token: str, **changes: Any) -> str:
        """`token` is one of USER's, with changes; None leaves a claim out. Returns it."""
        self._tokens.issue(token, {name: value for name, value in (USER | changes).items() if value is not None})
        return token

    def revoke(self, token: str) -> None:
        """The token is valid no longer."""
        self._tokens.issue(token, USER | {"expires_in": -1})

    def answers(self, endpoint: str, **fault: Any) -> None:
        """From now on `endpoint` answers so; without anything said, as usual."""
        call(f"{self._url}/__faults/{endpoint}", "POST" if fault else "DELETE", fault)

    def asked(self) -> dict[str, int]:
        """Return how often each endpoint was asked so far."""
        return dict(self._tokens.counts)


@contextlib.contextmanager
def google() -> Iterator[Google]:
    """A stand-in that answers; afterwards it has ended."""
    tokens = GoogleTokens()
    with Server(tokens.handle) as server:
        yield Google(tokens, server.url)
