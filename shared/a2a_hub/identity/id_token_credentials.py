"""Application Default Credentials of every kind as credentials whose token is an ID token for one audience.

google-auth does it for the metadata server, and for a key file that an environment variable names; impersonation by `gcloud auth
application-default login`, and workload identity, are left to its user (google-auth, `google.oauth2.id_token`).
"""

from __future__ import annotations

from typing import Any

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_IMPERSONATION = "service_account_impersonation_url"


class NotAnAccount(ValueError):
    """These credentials are no service account's: nobody gives out an ID token for an audience of one's choice to them."""


def id_token_credentials(default: Any, audience: str, *, transport: Any) -> Any:
    """Credentials for `audience` out of `default`, which google.auth.default gave. Raises NotAnAccount."""
    from google.auth import compute_engine, external_account, impersonated_credentials
    from google.oauth2 import service_account

    match default:
        case compute_engine.Credentials():
            return compute_engine.IDTokenCredentials(  # type: ignore[no-untyped-call]
                transport, audience, use_metadata_identity_endpoint=True
            )
        case service_account.Credentials():
            return service_account.IDTokenCredentials(  # type: ignore[no-untyped-call]
                default.signer,
                default.service_account_email,
                default._token_uri,
                audience,
            )
        case impersonated_credentials.Credentials():
            return _impersonating(default, audience)
        case external_account.Credentials() if default.service_account_email:
            return _impersonating(_federated(default), audience)
        case _:
            raise NotAnAccount


def _impersonating(target: Any, audience: str) -> Any:
    from google.auth import impersonated_credentials

    return impersonated_credentials.IDTokenCredentials(  # type: ignore[no-untyped-call]
        target, target_audience=audience, include_email=True
    )


def _federated(default: Any) -> Any:
    """The account that a federated identity may act as: the identity itself asks for the account's token."""
    import google.auth
    from google.auth import impersonated_credentials

    info = {name: value for name, value in default.info.items() if name != _IMPERSONATION}
    source, _ = google.auth.load_credentials_from_dict(info, scopes=[SCOPE])  # type: ignore[no-untyped-call]
    return impersonated_credentials.Credentials(  # type: ignore[no-untyped-call]
        source_credentials=source, target_principal=default.service_account_email, target_scopes=[SCOPE]
    )
