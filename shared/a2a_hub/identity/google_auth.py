"""google-auth behind one import, which takes a tenth of a second: load this module on first use.

It adds ID tokens from every kind of Application Default Credentials. google-auth gives them for the metadata server and for a key
file that an environment variable names; impersonation (`gcloud auth application-default login`) and workload identity are left to
its user (`google.oauth2.id_token`).
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, NamedTuple

import google.auth
import urllib3
from google.auth import compute_engine, external_account, impersonated_credentials
from google.auth.exceptions import GoogleAuthError, TransportError
from google.auth.transport.requests import Request
from google.auth.transport.urllib3 import Request as Urllib3Request
from google.oauth2 import id_token, service_account

from a2a_hub.runtime.shared_fetch import Fetched, SharedFetch

__all__ = ["GoogleAuthError", "Request", "TransportError"]
SECONDS_BEFORE_EXPIRY = 225.0
"""google-auth's own margin (`google.auth._helpers.REFRESH_THRESHOLD`)."""
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_IMPERSONATION = "service_account_impersonation_url"
_TIMEOUT_SECONDS = 5
# Google publishes a key long before it signs with it.
_CERTIFICATES_SECONDS = 600.0
# Google's answers allow at least this long.
_CERTIFICATES_IN_AN_OUTAGE_SECONDS = 10_800.0


def default_credentials(transport: Any, *, audience: str | None) -> Any:
    """Return Application Default Credentials: for ID tokens for `audience`, or without one for Google's APIs.

    Raises ValueError for an audience where they are no service account's: no issuer gives them such ID tokens.
    """
    credentials, _ = google.auth.default(scopes=[_SCOPE], request=transport)
    return credentials if audience is None else _id_token_credentials(credentials, transport, audience)


def _id_token_credentials(credentials: Any, transport: Any, audience: str) -> Any:
    match credentials:
        case compute_engine.Credentials():
            return compute_engine.IDTokenCredentials(  # type: ignore[no-untyped-call]
                transport, audience, use_metadata_identity_endpoint=True
            )
        case service_account.Credentials() as default:
            return service_account.IDTokenCredentials(  # type: ignore[no-untyped-call]
                default.signer, default.service_account_email, default._token_uri, audience
            )
        case impersonated_credentials.Credentials() as default:
            return _impersonating(default, audience)
        case external_account.Credentials() as default if default.service_account_email:
            return _impersonating(_federated(default), audience)
        case _:
            raise ValueError("no service account's")


def seconds_left(credentials: Any) -> float:
    """Return the seconds until the token expires."""
    if credentials.expiry is None:
        return float("inf")
    return float((credentials.expiry.replace(tzinfo=UTC) - datetime.now(UTC)).total_seconds())


def verify_id_token(
    token: str, *, audiences: frozenset[str], transport: Any, certs_url: str
) -> Mapping[str, Any] | None:
    """Return the claims of a valid ID token for one of the audiences; None for any other. Raises TransportError."""
    try:
        claims: Mapping[str, Any] = id_token.verify_token(
            token, transport, audience=list(audiences), certs_url=certs_url
        )
    except TransportError:
        raise
    except (GoogleAuthError, ValueError):
        return None
    return claims


class CertificateCache:
    """A google-auth transport that caches the certificates by `SharedFetch`: google-auth fetches them for each token.

    During an outage the last ones stay in use.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._transport = Urllib3Request(urllib3.PoolManager())  # type: ignore[no-untyped-call]
        self._clock = clock
        self._bodies = SharedFetch(self._fetch, clock=clock, name="certificates")

    def __call__(self, url: str, **_: Any) -> Any:
        """See `google.auth.transport.Request`."""
        try:
            return _Certificates(self._bodies.value(url).encode())
        except TimeoutError:
            raise TransportError("the certificates were not fetched in time") from None  # type: ignore[no-untyped-call]

    def _fetch(self, url: str) -> Fetched:
        answer = self._transport(url, timeout=_TIMEOUT_SECONDS)
        if answer.status != HTTPStatus.OK:
            raise TransportError(f"status {answer.status}")  # type: ignore[no-untyped-call]
        now = self._clock()
        return Fetched(answer.data.decode(), now + _CERTIFICATES_SECONDS, now + _CERTIFICATES_IN_AN_OUTAGE_SECONDS)


class _Certificates(NamedTuple):
    """An answer as google-auth reads it."""

    data: bytes
    status: int = HTTPStatus.OK


def _impersonating(target: Any, audience: str) -> Any:
    return impersonated_credentials.IDTokenCredentials(  # type: ignore[no-untyped-call]
        target, target_audience=audience, include_email=True
    )


def _federated(default: Any) -> Any:
    """Return the account that a federated identity may act as: the identity itself asks for the account's token."""
    info = {name: value for name, value in default.info.items() if name != _IMPERSONATION}
    source, _ = google.auth.load_credentials_from_dict(info, scopes=[_SCOPE])  # type: ignore[no-untyped-call]
    return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
        source_credentials=source, target_principal=default.service_account_email, target_scopes=[_SCOPE]
    )
