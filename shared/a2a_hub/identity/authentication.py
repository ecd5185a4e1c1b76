"""Authenticate requests: by the gate's signed header where a gate stands in front, else by the bearer token (RFC 6750).

A rejected token is 401. A verifier that cannot be reached is 503: an outage never looks like a bad token.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from a2a_hub.a2a.errors import UNAUTHENTICATED, UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request
from a2a_hub.identity.principal import Principal
from a2a_hub.telemetry.log import Record, Redacted

if TYPE_CHECKING:
    from a2a_hub.identity.signed_principal import PrincipalVerifier

AUTHORIZATION = "authorization"
PRINCIPAL_HEADER = "x-hub-principal"
"""The header with the signed principal, from one function to another."""
CALLER_AUTHORIZATION_HEADER = "x-hub-caller-authorization"
"""The header that carries the caller's own token beside it."""
# RFC 6750 §2.1; real tokens are shorter.
_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/=-]{1,8192})")


class VerifierUnavailable(Exception):
    """The identity provider cannot be reached; try again after `retry_after_seconds`."""

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__("the token cannot be verified now")
        self.retry_after_seconds = retry_after_seconds


class TokenVerifier(Protocol):
    """A verifier of one kind of token."""

    def verify(self, token: str) -> Principal | None:
        """Return the token's principal; None if this verifier does not accept it. Raises VerifierUnavailable."""
        ...


class Caller(Redacted, frozen=True, kw_only=True):
    """The caller: the principal (None if anonymous) and its Authorization header, for boundaries that forward it."""

    principal: Principal | None
    authorization: str | None = None
    through_gate: bool = False
    """True if another of our functions authenticated and admitted the request."""


Identify = Callable[[Request, Record], Caller]
"""An identification of callers, which notes the principal in the request's log record. Raises A2AError."""


class Authenticator:
    """The authentication of requests. All anonymous callers share `anonymous_principal`.

    `token_header` holds the caller's own token: API Gateway moves it away from Authorization.
    """

    def __init__(
        self,
        verifiers: Sequence[TokenVerifier],
        *,
        header_verifier: PrincipalVerifier | None = None,
        anonymous: bool = False,
        anonymous_principal: Principal | None = None,
        token_header: str = AUTHORIZATION,
    ) -> None:
        self._verifiers = tuple(verifiers)
        self._header_verifier = header_verifier
        self._anonymous = anonymous
        self._anonymous_caller = Caller(principal=anonymous_principal)
        self._token_header = token_header

    def identify(self, request: Request, record: Record) -> Caller:
        """Authenticate the caller, and note the principal in the request's log record."""
        caller = self.authenticate(request)
        if caller.principal is not None:
            record["principal"] = caller.principal.subject
        return caller

    def authenticate(self, request: Request) -> Caller:
        """Return the caller. Raises UNAUTHENTICATED (401) or UNAVAILABLE (503).

        A principal header without a valid signature is rejected even beside a valid bearer token. A body that differs from the
        signed one is rejected when it is read.
        """
        if PRINCIPAL_HEADER in request.headers and self._header_verifier is not None:
            return self._header_verifier.verify(request)
        authorization = request.headers.get(self._token_header)
        if self._anonymous and not authorization:
            return self._anonymous_caller
        if self._anonymous and not self._verifiers:
            return Caller(principal=self._anonymous_caller.principal, authorization=authorization)
        return Caller(principal=verify_bearer_token(authorization, self._verifiers), authorization=authorization)


def is_bearer_token(token: str) -> bool:
    """Return True if a header can carry this token (RFC 6750 §2.1)."""
    match = _BEARER.fullmatch(f"Bearer {token}")
    return match is not None and match[1] == token


def verify_bearer_token(authorization: str | None, verifiers: Sequence[TokenVerifier]) -> Principal:
    """Return the principal of an Authorization header.

    Raises UNAUTHENTICATED (401, with a Bearer challenge, RFC 6750 §3) or UNAVAILABLE (503, Retry-After).
    """
    match = _BEARER.fullmatch(authorization.strip()) if authorization else None
    if match is None:
        raise rejected("Send a bearer token: Authorization: Bearer <token>", 'Bearer realm="a2a"')
    unavailable: VerifierUnavailable | None = None
    for verifier in verifiers:
        try:
            principal = verifier.verify(match[1])
        except VerifierUnavailable as error:
            unavailable = error
            continue
        if principal is not None:
            return principal
    if unavailable is not None:
        retry = {"retry-after": str(unavailable.retry_after_seconds)}
        raise A2AError(UNAVAILABLE, "The token cannot be verified at the moment; try again later", headers=retry)
    raise rejected("The bearer token is not valid here")


def rejected(message: str, challenge: str = 'Bearer realm="a2a", error="invalid_token"') -> A2AError:
    """Return the error for a missing or invalid credential, with its challenge (RFC 6750 §3)."""
    return A2AError(UNAUTHENTICATED, message, headers={"www-authenticate": challenge})
