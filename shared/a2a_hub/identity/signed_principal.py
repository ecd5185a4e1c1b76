"""The principal header of the gate: signed (HMAC-SHA-256) and short-lived.

Its form is `base64url(JSON claims).base64url(signature)`, without padding. The claims name the function and the request, so that
a leaked header is of no use elsewhere, and hold the digest of the caller's token, so that no other token can travel beside it.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Sequence

import msgspec

from a2a_hub.identity.principal import Principal

HEADER = "x-hub-principal"
TOKEN_HEADER = "x-hub-caller-authorization"  # noqa: S105 - a header's name
_LIFETIME_SECONDS = 60.0
_SKEW_SECONDS = 30.0
MINIMUM_KEY_CHARACTERS = 32


class SignatureExpired(Exception):
    """A header that the gate signed for this request, but too long ago, or with a clock that differs from this one."""


class _Claims(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    aud: str
    request: str
    sub: str
    iat: float
    exp: float
    email: str | None = None
    hd: str | None = None
    client: str | None = None
    routes: tuple[str, ...] | None = None
    operations: tuple[str, ...] | None = None
    token_sha256: str | None = None


class PrincipalSigner:
    """A signer with the first of `keys`, which accepts any of them, so that a key can be rotated while both ends run.

    `audience` is the receiving function. `now` gives seconds since the epoch.
    """

    def __init__(self, keys: Sequence[str], *, now: Callable[[], float], audience: str = "hub") -> None:
        self._keys = tuple(key.encode() for key in keys)
        self._audience = audience
        self._now = now

    def sign(self, principal: Principal, *, method: str, path: str, authorization: str | None = None) -> str:
        """Return the header's value for one request. `authorization` is the caller's header that travels beside it, if any."""
        now = self._now()
        claims = _Claims(
            aud=self._audience,
            request=f"{method} {path}",
            sub=principal.subject,
            iat=now,
            exp=now + _LIFETIME_SECONDS,
            email=principal.email,
            hd=principal.hosted_domain,
            client=principal.client,
            routes=None if principal.routes is None else tuple(sorted(principal.routes)),
            operations=None if principal.operations is None else tuple(sorted(principal.operations)),
            token_sha256=_digest(authorization),
        )
        payload = _encoded(msgspec.json.encode(claims))
        return f"{payload}.{_signature(self._keys[0], payload)}"

    def verify(
        self, value: str, *, method: str, path: str, authorization: str | None = None
    ) -> tuple[Principal, bool] | None:
        """Return the principal, and True if `authorization` is the one that it was signed with.

        Return None for a forged value, and for one made for another function or request. Raises SignatureExpired.
        """
        payload, dot, signature = value.partition(".")
        if not dot or not value.isascii():
            return None
        if not any(hmac.compare_digest(_signature(key, payload), signature) for key in self._keys):
            return None
        try:
            claims = msgspec.json.decode(_decoded(payload), type=_Claims)
        except (msgspec.MsgspecError, binascii.Error, ValueError):
            return None
        if claims.aud != self._audience or claims.request != f"{method} {path}":
            return None
        if not claims.iat - _SKEW_SECONDS <= self._now() < claims.exp + _SKEW_SECONDS:
            raise SignatureExpired
        principal = Principal(
            subject=claims.sub,
            email=claims.email,
            hosted_domain=claims.hd,
            client=claims.client,
            routes=None if claims.routes is None else frozenset(claims.routes),
            operations=None if claims.operations is None else frozenset(claims.operations),
        )
        same = authorization is not None and claims.token_sha256 == _digest(authorization)
        return principal, same


def _signature(key: bytes, payload: str) -> str:
    return _encoded(hmac.digest(key, payload.encode(), "sha256"))


def _digest(authorization: str | None) -> str | None:
    return hashlib.sha256(authorization.encode()).hexdigest() if authorization is not None else None


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
