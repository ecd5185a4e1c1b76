"""Adds a route's credential to every request that goes to its agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import urlencode

from a2a_hub.boundaries.boundary import Boundary, Credential, CredentialRequest
from a2a_hub.http.client import Answer, Budget, Http
from a2a_hub.http.messages import Cancellation


class AuthorizedHttp:
    """The HTTP client of one call. A task may outlive a token: each request gets the credential of the moment.

    `credential` is the last one that was sent.
    """

    def __init__(self, http: Http, boundary: Boundary, request: CredentialRequest) -> None:
        """Get the first credential. Raises NoCredential."""
        self._http = http
        self._boundary = boundary
        self._request = request
        self.credential = boundary.credential(request)

    def with_boundary(self, boundary: Boundary) -> AuthorizedHttp:
        """Return a client for the same call with the credential of another boundary. Raises NoCredential."""
        return AuthorizedHttp(self._http, boundary, self._request)

    @property
    def clock(self) -> Callable[[], float]:
        """See `Http.clock`."""
        return self._http.clock

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: bytes | None,
        budget: Budget,
        cancellation: Cancellation | None = None,
    ) -> Answer:
        """See `Http.request`. A 401 makes the boundary renew its credential, once. Raises NoCredential."""

        def answer() -> Answer:
            return self._http.request(
                method,
                _with_query(url, self.credential),
                headers={**headers, **self.credential.headers},
                body=body,
                budget=budget,
                cancellation=cancellation,
            )

        self.credential = self._boundary.credential(self._request)
        first = answer()
        if first.status != 401:
            return first
        renewed = self._boundary.renewed(self._request, self.credential)
        if renewed is None:
            return first
        first.close()
        self.credential = renewed
        return answer()


def _with_query(url: str, credential: Credential) -> str:
    if not credential.query:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(credential.query)}"
