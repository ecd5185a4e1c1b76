"""Google ID tokens, service to service: signature, issuer, audience and expiry checked by google-auth."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from a2a_hub.identity.principal import Principal
from a2a_hub.identity.verifier import VerifierUnavailable

_RETRY_AFTER_SECONDS = 5
# Google publishes a key long before it signs with it.
_CERTS_SECONDS = 600.0
# For as long as its answers say that they may be kept, and often longer.
_CERTS_IN_AN_OUTAGE_SECONDS = 10_800.0
_TIMEOUT_SECONDS = 5


class IdTokens:
    """Verifies ID tokens made for one of `audiences`; of one of the `callers` (emails), where any are named.

    google-auth is imported on the first token that looks like one.
    """

    def __init__(
        self,
        *,
        audiences: frozenset[str],
        callers: frozenset[str] = frozenset(),
        certs_url: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._audiences = audiences
        self._callers = callers
        self._certs_url = certs_url
        self._clock = clock
        self._lock = threading.Lock()
        self._transport: Any = None

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`."""
        if not self._audiences or token.count(".") != 2:
            return None
        claims = self._claims(token)
        if claims is None:
            return None
        email = claims.get("email") if claims.get("email_verified") is True else None
        if self._callers and email not in self._callers:
            return None
        domain = claims.get("hd")
        return Principal(
            subject=f"google:{claims['sub']}",
            email=email,
            hosted_domain=domain if isinstance(domain, str) else None,
        )

    def _claims(self, token: str) -> Mapping[str, Any] | None:
        from google.auth.exceptions import GoogleAuthError, TransportError
        from google.oauth2 import id_token

        try:
            claims = id_token.verify_token(
                token, self._request(), audience=list(self._audiences), certs_url=self._certs_url
            )
        except TransportError:
            raise VerifierUnavailable(_RETRY_AFTER_SECONDS) from None
        except (GoogleAuthError, ValueError):
            return None
        issuer = claims.get("iss")
        if issuer not in ("https://accounts.google.com", "accounts.google.com") or not claims.get("sub"):
            return None
        return claims

    def _request(self) -> Any:
        with self._lock:
            if self._transport is None:
                import urllib3
                from google.auth.transport.urllib3 import Request

                request = Request(urllib3.PoolManager())  # type: ignore[no-untyped-call]
                self._transport = _CachedCerts(request, self._clock)
            return self._transport


class _CachedCerts:
    """A google-auth transport that keeps the certificates for a while: google-auth fetches them for each token.

    While no others are to be had, the last ones are used on. That there are none is remembered too, for a moment: those who
    wait for them do not each wait for a time-out.
    """

    def __init__(self, transport: Any, clock: Callable[[], float]) -> None:
        self._transport = transport
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, Any]] = {}
        self._last: dict[str, tuple[float, Any]] = {}

    def __call__(self, url: str, method: str = "GET", **kwargs: Any) -> Any:
        with self._lock:
            kept = self._kept.get(url)
            if kept is None or self._clock() >= kept[0]:
                kept = self._kept[url] = self._fetched(url, method, kwargs)
        if isinstance(kept[1], Exception):
            raise kept[1].with_traceback(None)
        return kept[1]

    def _fetched(self, url: str, method: str, kwargs: dict[str, Any]) -> tuple[float, Any]:
        from google.auth.exceptions import TransportError

        failure: Any
        try:
            answer = self._transport(url, method=method, timeout=_TIMEOUT_SECONDS, **kwargs)
        except TransportError as error:
            failure = error
        else:
            if answer.status == 200:
                self._last[url] = self._clock() + _CERTS_IN_AN_OUTAGE_SECONDS, answer
                return self._clock() + _CERTS_SECONDS, answer
            failure = answer
        until, last = self._last.get(url, (0.0, failure))
        return self._clock() + _RETRY_AFTER_SECONDS, last if self._clock() < until else failure
