"""Adds a route's credential to every request that goes to its agent, and the signed caller where the route says so."""

from collections.abc import Callable, Mapping
from urllib.parse import urlencode, urlsplit

from a2a_hub.boundaries.boundary import Boundary, Credential, CredentialRequest
from a2a_hub.http.client import Budget, ClientResponse, Http
from a2a_hub.http.messages import Cancellation
from a2a_hub.identity.authentication import PRINCIPAL_HEADER


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
    ) -> ClientResponse:
        """See `Http.request`. A 401 makes the boundary renew its credential, once. Raises NoCredential."""

        def answer() -> ClientResponse:
            target = _with_query(url, self.credential)
            return self._http.request(
                method,
                target,
                headers={**headers, **self.credential.headers, **self._signed_caller(method, target, body or b"")},
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

    def _signed_caller(self, method: str, url: str, body: bytes) -> dict[str, str]:
        agent, caller = self._request.agent, self._request.caller
        signer = self._request.sources.signer(agent.signs_caller_for) if caller and agent.signs_caller_for else None
        if caller is None or signer is None:
            return {}
        parts = urlsplit(url)
        path = f"{parts.path or '/'}?{parts.query}"
        authorization = self.credential.headers.get("authorization")
        signed = signer.sign(caller.identity, method=method, path=path, body=body, authorization=authorization)
        return {PRINCIPAL_HEADER: signed}


def _with_query(url: str, credential: Credential) -> str:
    if not credential.query:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(credential.query)}"
