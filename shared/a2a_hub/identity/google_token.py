"""Google's opaque access tokens: tokeninfo says for whom a token was made, userinfo whose it is.

userinfo carries no audience: by itself it would let in a token that the user gave to any other application (the confused deputy).
Hence the allow-list of audiences; an empty one rejects everybody.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.client import Budget, HttpClient, HttpFailure
from a2a_hub.http.messages import JSON, delay_of
from a2a_hub.identity.introspection_cache import IntrospectionCache, TooManyWait
from a2a_hub.identity.principal import Principal
from a2a_hub.identity.static_token import digest
from a2a_hub.identity.verifier import VerifierUnavailable

_SECONDS = 5.0
_MOST_BYTES = 65536
_RETRY_AFTER_SECONDS = 5
_INVALID_FOR_SECONDS = 10.0


class GoogleTokenFacts(Struct, frozen=True, kw_only=True):
    """What Google says about one token. `expires_at` is in seconds since the epoch."""

    audience: str
    authorized_party: str
    expires_at: float
    subject: str
    email: str | None
    email_verified: bool
    hosted_domain: str | None


class GoogleTokenRules(Struct, frozen=True, kw_only=True):
    """Which tokens are accepted: made for one of `audiences`; of one of `domains`, where any are named."""

    audiences: frozenset[str]
    domains: frozenset[str] = frozenset()


class GoogleTokens:
    """Verifies opaque access tokens. The rules are applied to the facts each time, also to facts from the cache."""

    def __init__(
        self,
        rules: GoogleTokenRules,
        *,
        http: HttpClient,
        now: Callable[[], float],
        userinfo_url: str,
        tokeninfo_url: str,
        ttl_seconds: float = 60.0,
    ) -> None:
        self._rules = rules
        self._http = http
        self._now = now
        self._userinfo_url = userinfo_url
        self._tokeninfo_url = tokeninfo_url
        self._ttl_seconds = ttl_seconds
        self._cache: IntrospectionCache[GoogleTokenFacts | None] = IntrospectionCache(clock=http.clock)

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`. A revoked token is out at the end of the TTL."""
        if not self._rules.audiences:
            return None
        try:
            facts = self._cache.get(digest(token), lambda: self._ask(token))
        except TooManyWait:
            raise VerifierUnavailable(_RETRY_AFTER_SECONDS) from None
        if facts is None or not self._allowed(facts):
            return None
        return Principal(
            subject=f"google:{facts.subject}", email=facts.email, hosted_domain=facts.hosted_domain
        )

    def _allowed(self, facts: GoogleTokenFacts) -> bool:
        made_for = {facts.audience, facts.authorized_party} & self._rules.audiences
        domain_fits = not self._rules.domains or facts.hosted_domain in self._rules.domains
        return bool(made_for) and domain_fits and facts.email_verified and facts.expires_at > self._now()

    def _ask(self, token: str) -> tuple[GoogleTokenFacts | None, float]:
        info = self._get(self._tokeninfo_url, token)
        user = self._get(self._userinfo_url, token) if info is not None else None
        if info is None or user is None or not isinstance(user.get("sub"), str) or not user["sub"]:
            return None, min(_INVALID_FOR_SECONDS, self._ttl_seconds)
        if info.get("sub") not in (None, user["sub"]):
            return None, min(_INVALID_FOR_SECONDS, self._ttl_seconds)
        facts = GoogleTokenFacts(
            audience=str(info.get("aud", "")),
            authorized_party=str(info.get("azp", "")),
            expires_at=_number(info.get("exp")),
            subject=user["sub"],
            email=user["email"] if isinstance(user.get("email"), str) else None,
            email_verified=user.get("email_verified") in (True, "true"),
            hosted_domain=user["hd"] if isinstance(user.get("hd"), str) else None,
        )
        return facts, max(0.0, min(self._ttl_seconds, facts.expires_at - self._now()))

    def _get(self, url: str, token: str) -> dict[str, Any] | None:
        """The endpoint's JSON object; None when it says that the token is invalid. Raises VerifierUnavailable.

        The token goes as a header, which keeps it out of URLs and logs.
        """
        budget = Budget(
            deadline=self._http.clock() + _SECONDS,
            connect_seconds=_SECONDS,
            idle_seconds=_SECONDS,
            max_bytes=_MOST_BYTES,
            retries=1,
        )
        headers = {"authorization": f"Bearer {token}", "accept": JSON}
        try:
            answer = self._http.request("GET", url, headers=headers, body=None, budget=budget)
            body = answer.read()
            if answer.status in (400, 401):
                return None
            value = protojson.decode(body) if answer.status == 200 else None
        except (HttpFailure, A2AError):
            raise VerifierUnavailable(_RETRY_AFTER_SECONDS) from None
        if not isinstance(value, dict):
            raise VerifierUnavailable(_retry_after(answer.headers.get("retry-after")))
        return value


def _number(value: object) -> float:
    """Tokeninfo sends numbers as strings."""
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _retry_after(value: str | None) -> int:
    delay = delay_of(value)
    return _RETRY_AFTER_SECONDS if delay is None else min(int(delay), 300)
