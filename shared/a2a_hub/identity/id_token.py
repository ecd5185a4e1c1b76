"""Google ID tokens, service to service: google-auth checks signature, issuer, audience and expiry."""

import time
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from a2a_hub.identity.authentication import VerifierUnavailable
from a2a_hub.identity.principal import Contract, Principal

_RETRY_AFTER_SECONDS = 5
_ISSUERS = ("https://accounts.google.com", "accounts.google.com")


class IdTokenVerifier(Struct, frozen=True, kw_only=True, dict=True):
    """A verifier of ID tokens made for one of `audiences`; if `callers` (emails) are given, only theirs.

    google-auth is loaded for the first token that looks like an ID token.
    """

    audiences: frozenset[str]
    callers: frozenset[str] = frozenset()
    contracts: Mapping[str, Contract] = {}
    certs_url: str
    clock: Callable[[], float] = time.monotonic

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`."""
        if not self.audiences or token.count(".") != 2:
            return None
        claims = self._claims(token)
        if claims is None or claims.get("iss") not in _ISSUERS or not claims.get("sub"):
            return None
        email = claims.get("email") if claims.get("email_verified") is True else None
        if self.callers and email not in self.callers:
            return None
        domain = claims.get("hd")
        return Principal(
            subject=f"google:{claims['sub']}",
            email=email,
            hosted_domain=domain if isinstance(domain, str) else None,
            contract=self.contracts.get(email or ""),
        )

    @cached_property
    def _transport(self) -> Any:
        from a2a_hub.identity import google_auth

        return google_auth.CertificateCache(self.clock)

    def _claims(self, token: str) -> Mapping[str, Any] | None:
        from a2a_hub.identity import google_auth

        try:
            return google_auth.verify_id_token(
                token, audiences=self.audiences, transport=self._transport, certs_url=self.certs_url
            )
        except google_auth.TransportError:
            raise VerifierUnavailable(_RETRY_AFTER_SECONDS) from None
