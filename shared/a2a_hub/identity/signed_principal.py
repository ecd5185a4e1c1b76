"""The signature of the principal header: a compact JWS (RFC 7515) by ECDSA on P-256, short-lived. It needs `joserfc`.

Each function signs with a key of its own. The claims name the receiving function and the request with its body, so that a leaked
header is of no use elsewhere, and hold the digest of the caller's token, so that no other token can travel beside it.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qs, urlencode

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from a2a_hub.a2a.errors import UNAVAILABLE, A2AError
from a2a_hub.http.messages import Request
from a2a_hub.identity.authentication import CALLER_AUTHORIZATION_HEADER, PRINCIPAL_HEADER, Caller, rejected
from a2a_hub.identity.principal import GATE, Principal, may_speak
from a2a_hub.identity.public_keys import PublicKey

_ALGORITHM = "ES256"
_REGISTRY = jws.JWSRegistry(algorithms=[_ALGORITHM])
_LIFETIME_SECONDS = 60.0
_SKEW_SECONDS = 30.0


class _Claims(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    aud: str
    method: str
    path: str
    body_sha256: str
    principal: Principal
    iat: float
    exp: float
    query: str = ""
    token_sha256: str | None = None


# Analyses the type at import: msgspec crashes if two threads are the first to use one.
_CLAIMS = msgspec.json.Decoder(_Claims)


class PrincipalSigner:
    """A signer with a function's private key (PEM), for the function `audience`. `now` gives seconds since the epoch."""

    def __init__(self, key: str, *, now: Callable[[], float], audience: str) -> None:
        self._key = ECKey.import_key(key)
        self._header = {"alg": _ALGORITHM, "kid": self._key.thumbprint()}
        self._audience = audience
        self._now = now

    def sign(
        self, principal: Principal, *, method: str, path: str, body: bytes, authorization: str | None = None
    ) -> str:
        """Return the header's value for one request; `path` is sent with its query, if it has one.

        `authorization` is the caller's header that travels beside it, if any.
        """
        now = self._now()
        path, _, query = path.partition("?")
        claims = _Claims(
            aud=self._audience,
            method=method,
            path=path,
            query=_sorted(parse_qs(query, keep_blank_values=True)),
            body_sha256=hashlib.sha256(body).hexdigest(),
            principal=principal,
            iat=now,
            exp=now + _LIFETIME_SECONDS,
            token_sha256=_digest(authorization),
        )
        return jws.serialize_compact(self._header, msgspec.json.encode(claims), self._key, registry=_REGISTRY)


class PrincipalVerifier:
    """A verifier at the function `audience`. `keys` holds the public keys of each function that calls it.

    A function has two while its key is changed. Only `speaker` names other principals than itself.
    """

    def __init__(
        self,
        keys: Mapping[str, Sequence[PublicKey]],
        *,
        now: Callable[[], float],
        audience: str,
        speaker: str = GATE,
    ) -> None:
        self._keys = {
            key.id: (function, ECKey.import_key(dict(key.jwk))) for function, of in keys.items() for key in of
        }
        self._audience = audience
        self._speaker = speaker
        self._now = now

    def verify(self, request: Request) -> Caller:
        """Return the caller that the header names; the request's body has to be the signed one.

        Raises UNAUTHENTICATED for a header that is forged, or made for another function or request, and UNAVAILABLE for one that
        was signed too long ago.
        """
        claims = self._claims(request)
        if claims is None:
            raise rejected("No function that is trusted here signed this request")
        if not claims.iat - _SKEW_SECONDS <= self._now() < claims.exp + _SKEW_SECONDS:
            # The caller's token is good: a 401 would send them looking for another one.
            late = "The request waited for too long on its way, or the clocks of two functions differ; try again"
            raise A2AError(UNAVAILABLE, late, headers={"retry-after": "5"})
        request.body_digest.required = claims.body_sha256
        authorization = request.headers.get(CALLER_AUTHORIZATION_HEADER)
        has_token = authorization is not None and claims.token_sha256 == _digest(authorization)
        return Caller(principal=claims.principal, authorization=authorization if has_token else None, through_gate=True)

    def _claims(self, request: Request) -> _Claims | None:
        try:
            signed = jws.extract_compact(request.headers[PRINCIPAL_HEADER].encode(), registry=_REGISTRY)
            function, key = self._keys[signed.headers()["kid"]]
            if not jws.validate_compact(signed, key, registry=_REGISTRY):
                return None
            claims = _CLAIMS.decode(signed.payload)
        except (JoseError, LookupError, TypeError, ValueError):
            return None
        requested = (self._audience, request.method, request.path, _sorted(request.query))
        fits = requested == (claims.aud, claims.method, claims.path, claims.query)
        return claims if fits and may_speak(function, claims.principal, speaker=self._speaker) else None


def _sorted(query: Mapping[str, Sequence[str]]) -> str:
    return urlencode(sorted((name, value) for name, values in query.items() for value in values))


def _digest(authorization: str | None) -> str | None:
    return hashlib.sha256(authorization.encode()).hexdigest() if authorization is not None else None
