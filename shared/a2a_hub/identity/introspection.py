"""Introspection of Google's opaque access tokens: tokeninfo names the audience, userinfo the user.

userinfo carries no audience: alone it would accept a token that the user gave to any other application (the confused deputy).
Hence the allow-list of audiences; an empty one rejects everybody.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from msgspec import Struct

from a2a_hub.a2a import protojson
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.client import HttpClient, HttpFailure, fetch
from a2a_hub.http.messages import JSON, delay_of
from a2a_hub.identity.authentication import VerifierUnavailable
from a2a_hub.identity.principal import Contract, Principal, digest
from a2a_hub.runtime.shared_fetch import SingleFlight

_TIMEOUT_SECONDS = 5.0
_RETRY_AFTER_SECONDS = 5
_INVALID_TTL_SECONDS = 10.0
Value = TypeVar("Value")


class IntrospectedToken(Struct, frozen=True, kw_only=True):
    """Google's answer on one token. `expires_at` is in seconds since the epoch."""

    audience: str
    expires_at: float
    subject: str
    email: str | None
    email_verified: bool
    hosted_domain: str | None


class AccessTokenVerifier(Struct, frozen=True, kw_only=True, dict=True):
    """A verifier of opaque access tokens made for one of `audiences`; if `domains` are given, only of users in one of them.

    A token that one of `audiences` only requested (`azp`) was made for another application. `contracts` are those of the OAuth
    clients, by their ids.
    """

    audiences: frozenset[str]
    domains: frozenset[str] = frozenset()
    http: HttpClient
    now: Callable[[], float]
    userinfo_url: str
    tokeninfo_url: str
    ttl_seconds: float = 60.0
    contracts: Mapping[str, Contract] = {}

    @cached_property
    def _cache(self) -> "IntrospectionCache[IntrospectedToken | None]":
        return IntrospectionCache(clock=self.http.clock)

    def verify(self, token: str) -> Principal | None:
        """See `TokenVerifier.verify`. A revoked token is rejected once the TTL is over."""
        if not self.audiences:
            return None
        found = self._cache.get(digest(token), lambda: self._introspect(token))
        if found is None or not self._accepts(found):
            return None
        return Principal(
            subject=f"google:{found.subject}",
            email=found.email,
            hosted_domain=found.hosted_domain,
            contract=self.contracts.get(found.audience),
        )

    def _accepts(self, token: IntrospectedToken) -> bool:
        """Return True for an accepted audience and domain, a verified address, and a token that has not expired."""
        return (
            token.audience in self.audiences
            and (not self.domains or token.hosted_domain in self.domains)
            and token.email_verified
            and token.expires_at > self.now()
        )

    def _introspect(self, token: str) -> tuple[IntrospectedToken | None, float]:
        """Return the token (None: invalid) and the seconds to cache it for."""
        info = self._get(self.tokeninfo_url, token)
        user = self._get(self.userinfo_url, token) if info is not None else None
        subject = user.get("sub") if user else None
        if info is None or user is None or not isinstance(subject, str) or not subject:
            return None, min(_INVALID_TTL_SECONDS, self.ttl_seconds)
        if info.get("sub") not in (None, subject):
            return None, min(_INVALID_TTL_SECONDS, self.ttl_seconds)
        found = IntrospectedToken(
            audience=str(info.get("aud", "")),
            expires_at=_number(info.get("exp")),
            subject=subject,
            email=user["email"] if isinstance(user.get("email"), str) else None,
            email_verified=user.get("email_verified") in (True, "true"),
            hosted_domain=user["hd"] if isinstance(user.get("hd"), str) else None,
        )
        return found, max(0.0, min(self.ttl_seconds, found.expires_at - self.now()))

    def _get(self, url: str, token: str) -> dict[str, Any] | None:
        """Return the endpoint's JSON object; None if the token is invalid. Raises VerifierUnavailable.

        The token goes as a header, which keeps it out of URLs and logs.
        """
        headers = {"authorization": f"Bearer {token}", "accept": JSON}
        try:
            answer, body = fetch(self.http, "GET", url, headers=headers, seconds=_TIMEOUT_SECONDS)
            if answer.status in (400, 401):
                return None
            value = protojson.decode(body) if answer.status == 200 else None
        except (HttpFailure, A2AError):
            raise VerifierUnavailable(_RETRY_AFTER_SECONDS) from None
        if not isinstance(value, dict):
            raise VerifierUnavailable(_retry_after(answer.headers.get("retry-after")))
        return value


class IntrospectionCache(Generic[Value]):
    """A bounded LRU cache by the token's SHA-256: it holds the provider's answers, never decisions. Thread-safe.

    Each token is introspected at most once at a time, and only `max_waiting` requests wait: a slow provider and a flood of
    unknown tokens leave threads for known callers. `clock` gives monotonic seconds.
    """

    def __init__(self, *, clock: Callable[[], float], max_entries: int = 10_000, max_waiting: int = 40) -> None:
        self._clock = clock
        self._max_entries = max_entries
        self._free_slots = max_waiting
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, tuple[float, Value]] = OrderedDict()
        self._flights: SingleFlight[str, Value] = SingleFlight()

    def get(self, key: str, fetch: Callable[[], tuple[Value, float]]) -> Value:
        """Return the cached value for `key`, else that of `fetch`, which returns it with the seconds to cache it for.

        Errors of `fetch` are raised to all waiting requests, and not cached. Raises VerifierUnavailable beyond `max_waiting`.
        """
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and self._clock() < entry[0]:
                self._entries.move_to_end(key)
                return entry[1]
            if not self._free_slots:
                raise VerifierUnavailable(_RETRY_AFTER_SECONDS)
            self._free_slots -= 1
            future, is_first = self._flights.claim(key)
        try:
            if is_first:
                self._flights.complete(key, future, lambda: self._fetch(key, fetch))
            return future.result()
        finally:
            with self._lock:
                self._free_slots += 1

    def _fetch(self, key: str, fetch: Callable[[], tuple[Value, float]]) -> Value:
        value, seconds = fetch()
        with self._lock:
            if seconds > 0:
                self._entries[key] = (self._clock() + seconds, value)
                self._entries.move_to_end(key)
                if len(self._entries) > self._max_entries:
                    self._entries.popitem(last=False)
        return value


def _number(value: object) -> float:
    """Read a number, which tokeninfo sends as a string."""
    try:
        return float(str(value))
    except ValueError:
        return 0.0


def _retry_after(value: str | None) -> int:
    delay = delay_of(value)
    return _RETRY_AFTER_SECONDS if delay is None else min(int(delay), 300)
